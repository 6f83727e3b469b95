// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// callLimit is what one request to etcd gets, some elections included: a machine
	// may be slow.
	callLimit = 20 * time.Second
	// silence is after how long a connection is tried, and for how long: one that is
	// only slow must not be made again, since what it held open is held twice then.
	silence = 10 * time.Second
)

// Dial returns a client of the members whose pods are there, for the caller to
// close. It reaches them by port-forward, through all that they go through: a pod
// that comes back under its name is found again.
func (c *Cluster) Dial(ctx context.Context) (*clientv3.Client, error) {
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("dial %s: it has no pods", c)
	}
	var pods []string
	for _, m := range members {
		pods = append(pods, m.Pod.Name)
	}
	return c.dial(ctx, pods...)
}

// endpoint is a member's own name, by which its certificate is verified. dialer
// takes the pod from it.
func (c *Cluster) endpoint(pod string) string {
	return c.Scheme() + "://" + pod + "." + c.PeerDomain() + ":2379"
}

// dialer opens gRPC's connections.
func (c *Cluster) dialer(ctx context.Context, address string) (net.Conn, error) {
	pod, _, _ := strings.Cut(address, ".")
	return tunnel.New(c.kube.rest).Dial(ctx, c.Namespace, pod, 2379)
}

func (c *Cluster) dial(ctx context.Context, pods ...string) (*clientv3.Client, error) {
	config := clientv3.Config{
		// Not the caller's: that may be one step's of a longer story.
		Context:              context.WithoutCancel(ctx),
		DialTimeout:          callLimit,
		DialKeepAliveTime:    silence,
		DialKeepAliveTimeout: 3 * silence,
		DialOptions:          []grpc.DialOption{grpc.WithContextDialer(c.dialer)},
		// What members that are down make of connections is no news here.
		Logger: zap.NewNop(),
	}
	for _, pod := range pods {
		config.Endpoints = append(config.Endpoints, c.endpoint(pod))
	}
	if c.TLS {
		security, err := c.clientTLS(ctx)
		if err != nil {
			return nil, err
		}
		config.TLS = security
	}
	conn, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", c, err)
	}
	return conn, nil
}

// clientTLS is what a client of the cluster needs, from its Secrets.
func (c *Cluster) clientTLS(ctx context.Context) (*tls.Config, error) {
	var secret corev1.Secret
	if err := c.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.clientSecret()}, &secret); err != nil {
		return nil, fmt.Errorf("read client certificate of %s: %w", c, err)
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("client certificate of %s: %w", c, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(secret.Data[caKey]) {
		return nil, fmt.Errorf("secret %s/%s: no authority under %s", c.Namespace, secret.Name, caKey)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair},
		RootCAs:      roots,
		MinVersion:   tls.VersionTLS12,
	}, nil
}

// Health is the health that one member reports.
type Health struct {
	Pod string
	// Err is why the member did not answer. The other fields are empty then.
	Err     error
	Version string
	// Member and Leader are member IDs; Leader is 0 where the member knows none.
	Member, Leader uint64
	Learner        bool
	Revision       int64
}

// Health asks all members at once for their status, without quorum.
func (c *Cluster) Health(ctx context.Context) ([]Health, error) {
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	healths := make([]Health, len(members))
	var asked sync.WaitGroup
	for i, m := range members {
		asked.Go(func() { healths[i] = c.health(ctx, m) })
	}
	asked.Wait()
	return healths, nil
}

func (c *Cluster) health(ctx context.Context, m Member) Health {
	conn, err := c.dial(ctx, m.Pod.Name)
	if err != nil {
		return Health{Pod: m.Pod.Name, Err: err}
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	status, err := conn.Status(ctx, c.endpoint(m.Pod.Name))
	if err != nil {
		return Health{Pod: m.Pod.Name, Err: err}
	}
	return Health{
		Pod: m.Pod.Name, Version: status.Version, Learner: status.IsLearner,
		Member: status.Header.MemberId, Leader: status.Leader, Revision: status.Header.Revision,
	}
}

// PutGet writes a key through quorum and reads it back, once.
func (c *Cluster) PutGet(ctx context.Context) error {
	conn, err := c.Dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	put, err := conn.Put(ctx, "testbed/putget", c.String())
	if err != nil {
		return fmt.Errorf("put a key into %s: %w", c, err)
	}
	got, err := conn.Get(ctx, "testbed/putget")
	if err != nil {
		return fmt.Errorf("get a key from %s: %w", c, err)
	}
	if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != c.String() || got.Kvs[0].ModRevision < put.Header.Revision {
		return fmt.Errorf("get a key from %s: %v is not what was put at revision %d", c, got.Kvs, put.Header.Revision)
	}
	return nil
}
