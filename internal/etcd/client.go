// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	// readLimit is the timeout of a read, including the connection. A member without
	// quorum doesn't answer linearizable reads.
	readLimit = 5 * time.Second
	// writeLimit is the timeout of a write. etcd itself times out after 7 s, and its error
	// is more specific.
	writeLimit = 10 * time.Second
)

// limits has the timeouts of calls that don't use writeLimit. 0 means that only the caller's
// deadline applies.
var limits = map[string]time.Duration{
	pb.Maintenance_Status_FullMethodName:     readLimit,
	pb.Cluster_MemberList_FullMethodName:     readLimit,
	pb.KV_Range_FullMethodName:               readLimit,
	pb.Auth_Authenticate_FullMethodName:      readLimit,
	pb.Auth_AuthStatus_FullMethodName:        readLimit,
	pb.Maintenance_Defragment_FullMethodName: 0,
	pb.Maintenance_Hash_FullMethodName:       0,
	pb.Maintenance_HashKV_FullMethodName:     0,
	pb.KV_Compact_FullMethodName:             0,
}

// member is the connection of a Cluster to one endpoint.
type member struct {
	link   *link
	client *clientv3.Client
}

// Client returns a client of a single member. Its connection stays open until Close. Its
// calls time out after seconds even if the context has more time, except Defragment, Hash,
// HashKV and Compact, which take long. No call waits for a member that can't be reached, and
// only reads are retried.
func (c *Cluster) Client(ctx context.Context, pod string) (*clientv3.Client, error) {
	m, err := c.member(ctx, pod)
	if err != nil {
		return nil, err
	}
	return m.client, nil
}

// Conn returns a client like Client's with a separate connection. Use it for large streams,
// since a slow stream delays all calls on the same connection. The caller closes it.
func (c *Cluster) Conn(ctx context.Context, pod string) (*clientv3.Client, error) {
	e, err := c.endpoint(pod)
	if err != nil {
		return nil, err
	}
	m, err := c.open(ctx, e)
	if err != nil {
		return nil, err
	}
	return m.client, nil
}

// Close ends all connections.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, m := range c.members {
		if err := m.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
	}
	c.members = nil
	return errors.Join(errs...)
}

func (c *Cluster) endpoint(pod string) (access.Endpoint, error) {
	for _, e := range c.Endpoints {
		if e.Pod == pod {
			return e, e.Err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, known := c.others[pod]; known {
		return e, e.Err
	}
	return access.Endpoint{}, fmt.Errorf("pod %s is not a member of the cluster", pod)
}

func (c *Cluster) member(ctx context.Context, pod string) (*member, error) {
	c.mu.Lock()
	m := c.members[pod]
	c.mu.Unlock()
	if m != nil {
		return m, nil
	}
	e, err := c.endpoint(pod)
	if err != nil {
		return nil, err
	}
	// Not under the lock, since with a password this calls the member.
	if m, err = c.open(ctx, e); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.members[pod]; first != nil {
		_ = m.client.Close() // another goroutine was faster
		return first, nil
	}
	if c.members == nil {
		c.members = map[string]*member{}
	}
	c.members[pod] = m
	return m, nil
}

func (c *Cluster) open(ctx context.Context, e access.Endpoint) (*member, error) {
	l := &link{tunnel: c.Tunnel, endpoint: e, protocols: []string{"h2"}}
	client, err := clientv3.New(clientv3.Config{
		// The link does TLS. The address is only used in messages.
		Endpoints: []string{fmt.Sprintf("http://%s.%s:%d", e.Pod, e.Namespace, e.Port)},
		// Not the caller's context, which may end before the connection is closed.
		Context:              context.WithoutCancel(ctx),
		DialTimeout:          readLimit,
		DialKeepAliveTime:    2 * readLimit,
		DialKeepAliveTimeout: readLimit,
		Username:             e.Username,
		Password:             e.Password,
		MaxUnaryRetries:      2, // an expired token needs one
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.dial(ctx) }),
			grpc.WithChainUnaryInterceptor(l.unary),
			grpc.WithChainStreamInterceptor(l.stream),
			// A restarted member should be reached soon, not after gRPC's two minutes.
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
				MinConnectTimeout: writeLimit,
			}),
		},
		Logger: zap.NewNop(), // its errors contain the same
	})
	if err != nil {
		return nil, Explain(e, err)
	}
	return &member{link: l, client: client}, nil
}

// errNoAnswer is the error of a call that timed out although the caller's context didn't.
var errNoAnswer = errors.New("no answer")

// unary adds a timeout to each call and describes its error.
func (l *link) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
	limit, known := limits[method]
	if !known {
		limit = writeLimit
	}
	within := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	// etcd's client would wait for a connection until the deadline. Report the first failure
	// instead.
	err := call(within, method, req, reply, conn, append(options, grpc.WaitForReady(false))...)
	return l.explain(ctx, limit, err)
}

// stream describes the error of a stream.
func (l *link) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, conn, method, options...)
	if err != nil {
		return nil, l.explain(ctx, 0, err)
	}
	return &linkStream{ClientStream: s, link: l}, nil
}

// linkStream is a stream whose errors are described.
type linkStream struct {
	grpc.ClientStream

	link *link
}

func (s *linkStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if errors.Is(err, io.EOF) {
		return err
	}
	return s.link.explain(s.Context(), 0, err)
}

// explain describes errors of the connection. It returns errors of the member unchanged,
// since etcd's client depends on them: see Explain.
func (l *link) explain(ctx context.Context, limit time.Duration, err error) error {
	if err == nil || ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return err
	}
	failed := &MemberError{Namespace: l.endpoint.Namespace, Pod: l.endpoint.Pod, code: status.Code(err)}
	cause := l.cause()
	switch {
	case failed.code == codes.Unavailable && cause != nil:
		failed.Err, failed.Message = cause, describe(l.endpoint, cause)
	case failed.code == codes.DeadlineExceeded && cause != nil:
		failed.Err, failed.Message, failed.code = cause, describe(l.endpoint, cause), codes.Unknown
	case failed.code == codes.DeadlineExceeded && ctx.Err() != nil:
		return context.Cause(ctx) // the caller's deadline has passed
	case failed.code == codes.DeadlineExceeded:
		// Unknown, since etcd's client would convert DeadlineExceeded into the context's error.
		failed.Err, failed.code = errNoAnswer, codes.Unknown
		failed.Message = fmt.Sprintf("no answer within %s", policy.Duration(limit))
	default:
		return err
	}
	return failed
}
