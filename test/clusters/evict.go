// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Evict requests the eviction of a member's pod and returns the API server's response, for
// example success, or 429 with the reason. The error reports that there was no response.
func (c *Cluster) Evict(ctx context.Context, pod string) (metav1.Status, error) {
	return c.evict(ctx, pod, metav1.DeleteOptions{})
}

// MayEvict is Evict as a dry run. The API server checks budgets and calls webhooks, but evicts
// nothing.
func (c *Cluster) MayEvict(ctx context.Context, pod string) (metav1.Status, error) {
	return c.evict(ctx, pod, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
}

func (c *Cluster) evict(ctx context.Context, pod string, options metav1.DeleteOptions) (metav1.Status, error) {
	err := c.kube.set.PolicyV1().Evictions(c.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: c.Namespace, Name: pod},
		DeleteOptions: &options,
	})
	if err == nil {
		return metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}, nil
	}
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return answer.Status(), nil
	}
	return metav1.Status{}, fmt.Errorf("evict pod %s/%s: %w", c.Namespace, pod, err)
}

// Drain runs kubectl drain on a node, only for the cluster's members, and returns when kubectl
// ends. It writes kubectl's output to out immediately. If the drain isn't complete within the
// limit, kubectl returns an error. A limit of 0 means no limit. The node stays cordoned: see
// Uncordon.
func (c *Cluster) Drain(ctx context.Context, node string, limit time.Duration, out io.Writer) error {
	return Kubectl(ctx, c.testbed, out, "drain", node,
		"--ignore-daemonsets", "--delete-emptydir-data",
		"--pod-selector="+labels.FormatLabels(c.MemberLabels()),
		"--timeout="+limit.String())
}

// Uncordon makes a node schedulable again.
func (c *Cluster) Uncordon(ctx context.Context, node string, out io.Writer) error {
	return Kubectl(ctx, c.testbed, out, "uncordon", node)
}

// Kubectl runs the testbed's kubectl with at least two arguments, and writes the output to out.
// It retries if kubectl couldn't reach the API server.
func Kubectl(ctx context.Context, tb Testbed, out io.Writer, args ...string) error {
	for sent := 1; ; sent++ {
		var printed bytes.Buffer
		cmd := exec.CommandContext(ctx, tb.Kubectl(), append([]string{"--kubeconfig=" + tb.Kubeconfig()}, args...)...) //nolint:gosec // the testbed's own program
		cmd.Stdout = io.MultiWriter(out, &printed)
		cmd.Stderr = cmd.Stdout
		err := cmd.Run()
		if err == nil {
			return nil
		}
		if sent == sendings || !connecting.MatchString(printed.String()) {
			return fmt.Errorf("kubectl %s %s: %w", args[0], args[1], err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(sendAgain):
		}
	}
}
