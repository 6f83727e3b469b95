// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// bench is one run.
type bench struct {
	bed       *testbed.Testbed
	log       io.Writer
	namespace string
	size      int64
	rounds    int
	keep      bool

	programs map[string]string
	pod      string
	dir      string
}

const clusterName = "bench"

func (b *bench) run(ctx context.Context) (ours, theirs []sample, err error) {
	if b.programs, err = programs.Ensure(ctx, programs.Cache{}, []string{"etcdctl", "kubectl-etcd"}, b.log); err != nil {
		return nil, nil, err
	}
	c, err := b.cluster(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !b.keep {
		defer func() { err = errors.Join(err, c.Delete(context.WithoutCancel(ctx))) }()
	}
	if b.dir, err = os.MkdirTemp("", "snapshot-bench-"); err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(b.dir)
	for n := range b.rounds + 1 {
		mine, err := b.plugin(ctx)
		if err != nil {
			return nil, nil, err
		}
		their, err := b.etcdctl(ctx)
		if err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(b.log, "round %d: plugin %.2f s, etcdctl %.2f s\n", n, mine.transfer.Seconds(), their.transfer.Seconds())
		if n > 0 { // the first fills the caches
			ours, theirs = append(ours, mine), append(theirs, their)
		}
	}
	return ours, theirs, nil
}

// cluster makes the cluster and fills it, where that isn't done yet.
func (b *bench) cluster(ctx context.Context) (*clusters.Cluster, error) {
	c, err := clusters.Apply(ctx, b.bed, b.namespace, clusterName, clusters.Spec{Flavour: clusters.Plain, Size: 3, Progress: b.log})
	if err != nil {
		return nil, err
	}
	if err := c.WaitReady(ctx); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, c); err != nil {
		return nil, fmt.Errorf("fill %s: %w", c, err)
	}
	healths, err := c.Health(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range healths {
		if h.Err == nil && h.Leader != h.Member {
			b.pod = h.Pod
		}
	}
	if b.pod == "" {
		return nil, fmt.Errorf("%s has no follower that answers", c)
	}
	return c, nil
}

// value is how large each key's is: below the 1.5 MiB that a request may have.
const value = 1 << 20

func (b *bench) fill(ctx context.Context, c *clusters.Cluster) error {
	client, err := c.Dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	status, err := client.Get(ctx, "fill/done")
	if err != nil || status.Count > 0 {
		return err
	}
	fmt.Fprintf(b.log, "filling %s with %d MiB\n", c, b.size>>20)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for n := range b.size / value {
		group.Go(func() error {
			data := make([]byte, value-4096)
			rand.Read(data) // never fails
			_, err := client.Put(ctx, fmt.Sprintf("fill/%06d", n), string(data))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err = client.Put(context.WithoutCancel(ctx), "fill/done", "")
	return err
}

// plugin saves once with kubectl etcd, which times the transfer itself.
func (b *bench) plugin(ctx context.Context) (sample, error) {
	file := filepath.Join(b.dir, "ours.db")
	defer os.Remove(file + ".json")
	defer os.Remove(file)
	cmd := exec.CommandContext(ctx, b.programs["kubectl-etcd"], "snapshot", "save", "statefulset/"+clusterName, file, //nolint:gosec // the bench's own programs and cluster
		"-n", b.namespace, "--member", b.pod, "--retries", "0", "-o", "json", "--kubeconfig", b.bed.Kubeconfig())
	began := time.Now() //nolint:forbidigo // it measures what a person would wait
	text, err := output(cmd)
	if err != nil {
		return sample{}, err
	}
	s := sample{whole: time.Since(began)}
	var out struct {
		Origin struct {
			TransferSeconds, VerifySeconds float64
		}
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return s, err
	}
	s.transfer = time.Duration(out.Origin.TransferSeconds * float64(time.Second))
	s.verify = time.Duration(out.Origin.VerifySeconds * float64(time.Second))
	return s, nil
}

// etcdctl saves once over kubectl port-forward, which runs before the time does.
func (b *bench) etcdctl(ctx context.Context) (sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	forward := exec.CommandContext(ctx, b.bed.Kubectl(), "port-forward", "-n", b.namespace, "pod/"+b.pod, ":2379", "--kubeconfig", b.bed.Kubeconfig()) //nolint:gosec // the testbed's own program
	pipe, err := forward.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	if err := forward.Start(); err != nil {
		return sample{}, err
	}
	defer forward.Wait() //nolint:errcheck // it is killed
	defer cancel()
	lines := bufio.NewReader(pipe)
	line, err := lines.ReadString('\n') // Forwarding from 127.0.0.1:40123 -> 2379
	if err != nil {
		return sample{}, fmt.Errorf("kubectl port-forward: %w", err)
	}
	go io.Copy(io.Discard, lines) //nolint:errcheck // ends with it
	_, rest, _ := strings.Cut(line, "127.0.0.1:")
	port, _, _ := strings.Cut(rest, " ")
	file := filepath.Join(b.dir, "theirs.db")
	save := exec.CommandContext(ctx, b.programs["etcdctl"], "--endpoints", "http://127.0.0.1:"+port, "snapshot", "save", file) //nolint:gosec // the bench's own program
	defer os.Remove(file)
	began := time.Now() //nolint:forbidigo // it measures what a person would wait
	_, err = output(save)
	took := time.Since(began)
	return sample{transfer: took, whole: took}, err
}

func output(cmd *exec.Cmd) ([]byte, error) {
	text, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, exit.Stderr)
	}
	return text, err
}
