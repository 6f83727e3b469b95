// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// readyTimeout is how long Up waits for each stage of the cluster. A busy
	// machine takes a minute or some; what takes longer doesn't come.
	readyTimeout = 8 * time.Minute
	// tryTimeout is the timeout of one check.
	tryTimeout = 20 * time.Second
)

// waitAPIServer waits until the API server is ready for requests.
func (t *Testbed) waitAPIServer(ctx context.Context) error {
	client, err := t.client()
	if err != nil {
		return err
	}
	return t.poll(ctx, "the API server", func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// waitReady waits until pods can be used: nodes are Ready, names resolve, and
// the namespace default has its ServiceAccount, without which no pod is admitted.
func (t *Testbed) waitReady(ctx context.Context) error {
	client, err := t.client()
	if err != nil {
		return err
	}
	for what, ready := range map[string]func(context.Context) error{
		"the nodes": func(ctx context.Context) error { return t.nodesReady(ctx, client) },
		"DNS":       t.resolves,
		"the default ServiceAccount": func(ctx context.Context) error {
			_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
			return err
		},
	} {
		if err := t.poll(ctx, what, ready); err != nil {
			return err
		}
	}
	return nil
}

func (t *Testbed) nodesReady(ctx context.Context, client kubernetes.Interface) error {
	conditions, err := nodeConditions(ctx, client)
	if err != nil {
		return err
	}
	var waiting []string
	for _, n := range t.layout.Nodes {
		// The condition is old for a while after a node went away; its kubelet
		// must answer too.
		if conditions[n.Name] != ready || !kubeletAnswers(ctx, client, n.Name) {
			waiting = append(waiting, n.Name)
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("not ready: %s", strings.Join(waiting, ", "))
	}
	return nil
}

func kubeletAnswers(ctx context.Context, client kubernetes.Interface, node string) bool {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout/8)
	defer cancel()
	return client.CoreV1().RESTClient().Get().Resource("nodes").Name(node).SubResource("proxy").Suffix("healthz").Do(ctx).Error() == nil
}

const ready = "Ready"

// nodeConditions returns Ready or NotReady by node.
func nodeConditions(ctx context.Context, client kubernetes.Interface) (map[string]string, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, n := range nodes.Items {
		found[n.Name] = "NotReady"
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				found[n.Name] = ready
			}
		}
	}
	return found, nil
}

// resolves asks the cluster's DNS for the one Service that is always there.
func (t *Testbed) resolves(ctx context.Context) error {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(t.controlAddress(), "53"))
	}}
	addresses, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
	if err == nil && !slices.Equal(addresses, []string{serviceIP}) {
		err = fmt.Errorf("kubernetes.default is at %v, not %s", addresses, serviceIP)
	}
	return err
}

// poll repeats a check until it succeeds.
func (t *Testbed) poll(ctx context.Context, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var last error
	for {
		try, done := context.WithTimeout(ctx, tryTimeout)
		err := check(try)
		done()
		if err == nil {
			return nil
		}
		if !errors.Is(err, context.Canceled) || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (%w)", what, ctx.Err(), last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (t *Testbed) client() (kubernetes.Interface, error) {
	config, err := t.RESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}
