// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	// startTimeout is how long etcd has to answer. It reads the whole database before.
	startTimeout = 5 * time.Minute
	// stopTimeout is how long etcd has to end.
	stopTimeout = 10 * time.Second
	pollPeriod  = 100 * time.Millisecond
	// clientSocket is a file in the directory. etcd 3.4 requires the form host:port.
	clientSocket = "client:0"
)

var errEnded = errors.New("it has ended without an error")

// server is an etcd that runs.
type server struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	// exit is how it has ended, when ended is closed.
	exit error
	// started means that it has answered.
	started bool
	// socket is where it listens for clients.
	socket string
	// describe returns the error of an etcd that has ended.
	describe func(doing string, err error, printed string) error
}

// start starts etcd with more arguments. The caller stops it.
func start(dir, data, program string, args ...string) (*server, error) {
	s := &server{ended: make(chan struct{}), socket: filepath.Join(dir, clientSocket), log: filepath.Join(dir, "etcd.log"), describe: failure}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// The member has the URLs that are the defaults of the tool, and listens on none of them. A size that is
	// above the default quota is no alarm here.
	args = append([]string{
		"--data-dir", data, "--listen-client-urls", "unix://" + clientSocket, "--advertise-client-urls", "http://localhost:2379",
		"--listen-peer-urls", "unix://peer:0", "--quota-backend-bytes=-1", "--enable-grpc-gateway=false", "--log-level=error",
	}, args...)
	s.cmd = exec.Command(program, args...) //nolint:gosec // the user chooses the program
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = dir, environment(), log, log
	if err := startPrivate(s.cmd); err != nil {
		return nil, fmt.Errorf("run %s: %w", program, err)
	}
	go func() {
		s.exit = s.cmd.Wait()
		close(s.ended)
	}()
	return s, nil
}

// stop ends etcd, and waits for its end. It reports whether etcd ended within the limit.
func (s *server) stop(limit time.Duration) (inTime bool) {
	_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-s.ended:
		return true
	case <-time.After(limit):
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.ended
		return false
	}
}

// why returns why etcd has stopped to answer, if it has ended meanwhile.
func (s *server) why(ctx context.Context, err error) error {
	if _, known := errors.AsType[*DamagedError](err); known || ctx.Err() != nil || !s.started {
		return err
	}
	select {
	case <-s.ended:
		return s.describe("etcd ended while it was read", cmp.Or(s.exit, errEnded), s.printed())
	case <-time.After(pollPeriod): // the connection can break a moment before
		return err
	}
}

// printed returns what etcd has printed.
func (s *server) printed() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// connect waits until etcd answers.
func (s *server) connect(ctx context.Context) (*clientv3.Client, *clientv3.StatusResponse, error) {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{endpoint}, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", s.socket)
		})},
	})
	if err != nil {
		return nil, nil, err
	}
	status, err := s.await(ctx, c)
	if err != nil {
		_ = c.Close() // the error is of the server
		return nil, nil, err
	}
	return c, status, nil
}

func (s *server) await(ctx context.Context, c *clientv3.Client) (status *clientv3.StatusResponse, err error) {
	err = s.poll(ctx, "start", func(ctx context.Context) bool {
		var failed error
		status, failed = c.Status(ctx, endpoint)
		return failed == nil && status.Leader != 0
	})
	s.started = err == nil
	return status, err
}

// poll asks etcd until it has done what it has to do. Each question has a second.
func (s *server) poll(ctx context.Context, todo string, done func(context.Context) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("timed out after %s", policy.Duration(startTimeout)))
	defer cancel()
	for {
		try, end := context.WithTimeout(ctx, time.Second)
		ok := done(try)
		end()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for etcd to %s: %w", todo, context.Cause(ctx))
		case <-s.ended:
			if err := context.Cause(ctx); err != nil { // Ctrl-C reaches etcd, too
				return err
			}
			return s.describe("etcd doesn't start from it", cmp.Or(s.exit, errEnded), s.printed())
		case <-time.After(pollPeriod):
		}
	}
}

// endpoint is only used in messages: the connection is that of the socket.
const endpoint = "http://restored"
