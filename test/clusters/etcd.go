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
	// callLimit is the timeout of one request to etcd. It allows for some elections, because a
	// machine may be slow.
	callLimit = 20 * time.Second
	// silence is the interval and the base of the timeout of keep-alive pings. A slow connection
	// must not be replaced, because its streams would then be counted twice.
	silence = 10 * time.Second
)

// Dial returns a client of the members with existing pods. The caller closes it. The client uses
// port-forward, and finds a pod that is created again under the same name.
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

// endpoint returns a member's own name, which the client verifies in the certificate. dialer
// gets the pod from it.
func (c *Cluster) endpoint(pod string) string {
	return c.Scheme() + "://" + pod + "." + c.PeerDomain() + ":2379"
}

// dialer opens the connections for gRPC.
func (c *Cluster) dialer(ctx context.Context, address string) (net.Conn, error) {
	pod, _, _ := strings.Cut(address, ".")
	return tunnel.New(c.kube.rest).Dial(ctx, c.Namespace, pod, 2379)
}

func (c *Cluster) dial(ctx context.Context, pods ...string) (*clientv3.Client, error) {
	config := clientv3.Config{
		// The client must outlive the caller's context, which may belong to one step of a story.
		Context:              context.WithoutCancel(ctx),
		DialTimeout:          callLimit,
		DialKeepAliveTime:    silence,
		DialKeepAliveTimeout: 3 * silence,
		DialOptions:          []grpc.DialOption{grpc.WithContextDialer(c.dialer)},
		// Failed connections to stopped members are expected.
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

// clientTLS returns the TLS configuration of a client of the cluster, from its Secrets.
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
	// Err is the reason why the member did not respond. The other fields are then empty.
	Err     error
	Version string
	// Member and Leader are member IDs. Leader is 0 if the member knows no leader.
	Member, Leader uint64
	Learner        bool
	Revision       int64
}

// Health requests the status of all members at once, without quorum.
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

// PutGet writes a key and reads it back once, both with quorum.
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
