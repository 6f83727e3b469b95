// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package kubectl does what kubectl drain does, by its code. It is apart from package drain because this code brings the
// command line of kubectl with it.
package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/drain"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// Flags decide which pods a drain evicts. They have the meaning of the flags of kubectl drain.
type Flags struct {
	IgnoreDaemonSets, DeleteEmptyDirData, Force bool
	// GracePeriod is how many seconds each pod gets to stop, negative for the value of the pod.
	GracePeriod int
	PodSelector string
}

// AsArgs returns the flags for a command that is printed, each after a space.
func (f Flags) AsArgs() string {
	var b strings.Builder
	for _, flag := range []struct {
		name string
		set  bool
	}{{"ignore-daemonsets", f.IgnoreDaemonSets}, {"delete-emptydir-data", f.DeleteEmptyDirData}, {"force", f.Force}} {
		if flag.set {
			b.WriteString(" --" + flag.name)
		}
	}
	if f.GracePeriod >= 0 {
		fmt.Fprintf(&b, " --grace-period %d", f.GracePeriod)
	}
	if f.PodSelector != "" {
		b.WriteString(" --pod-selector " + format.Quote(f.PodSelector))
	}
	return b.String()
}

// Drain implements drain.Kubectl.
type Drain struct {
	client *clients
	flags  Flags
	// out gets the errors that kubectl drain retries.
	out io.Writer
}

// New returns kubectl drain with some flags. It writes errors that it retries to out.
func New(config *rest.Config, flags Flags, out io.Writer) (*Drain, error) {
	client, err := newClients(config)
	if err != nil {
		return nil, err
	}
	return &Drain{client: client, flags: flags, out: out}, nil
}

// retryDelay is the time after which kubectl drain tries an eviction again that a budget refused.
const retryDelay = 5 * time.Second

func (k *Drain) helper(ctx context.Context) *drain.Helper {
	return &drain.Helper{
		Ctx: ctx, Client: k.client, Force: k.flags.Force, GracePeriodSeconds: k.flags.GracePeriod, IgnoreAllDaemonSets: k.flags.IgnoreDaemonSets,
		DeleteEmptyDirData: k.flags.DeleteEmptyDirData, PodSelector: k.flags.PodSelector, ChunkSize: 500, EvictErrorRetryDelay: retryDelay,
		Out: io.Discard, ErrOut: k.out,
	}
}

// Pods implements drain.Kubectl.
func (k *Drain) Pods(ctx context.Context, node string) (pods []corev1.Pod, warnings string, fails []string, err error) {
	list, errs := k.helper(ctx).GetPodsForDeletion(node)
	if list == nil { // not the pods are at fault, but the request
		return nil, "", nil, errors.Join(errs...)
	}
	for _, e := range errs {
		fails = append(fails, e.Error())
	}
	slices.Sort(fails) // they come from a map
	parts := strings.Split(list.Warnings(), "; ")
	slices.Sort(parts)
	return list.Pods(), strings.Join(parts, "; "), fails, nil
}

// Cordon implements drain.Kubectl.
func (k *Drain) Cordon(ctx context.Context, node *corev1.Node, dry bool) error {
	c := drain.NewCordonHelper(node)
	if !c.UpdateIfRequired(true) {
		return nil
	}
	err, patchErr := c.PatchOrReplaceWithContext(ctx, k.client, dry)
	return errors.Join(err, patchErr)
}

// Evict implements drain.Kubectl.
func (k *Drain) Evict(ctx context.Context, pods []corev1.Pod) error {
	h := k.helper(ctx)
	supported, err := drain.CheckEvictionSupport(h.Client)
	switch {
	case err != nil:
		return fmt.Errorf("read whether the API server has evictions: %w", err)
	case supported.Empty(): // kubectl drain would delete the pods then
		return errors.New("the API server has no evictions, and pods are never deleted instead")
	}
	return h.DeleteOrEvictPods(pods)
}
