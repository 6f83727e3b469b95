// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drainplan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/drain"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	jobs "github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain"
)

// kubectl is kubectl drain with the flags of this command.
type kubectl struct {
	client *clients
	flags  podFlags
	out    io.Writer
}

// retryDelay is the time after which kubectl drain tries an eviction again that a budget refused.
const retryDelay = 5 * time.Second

// newJob returns the job of the command.
func newJob(a *app.App, o options) (*jobs.Job, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, err
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	used, err := newClients(config)
	if err != nil {
		return nil, err
	}
	namespace, err := a.Namespace()
	if err != nil {
		return nil, err
	}
	return &jobs.Job{
		Kube: kube, Reader: reader, Kubectl: &kubectl{client: used, flags: o.podFlags, out: a.ErrOut}, Clock: a.Clock,
		Namespace: namespace, GracePeriod: o.gracePeriod, Logf: func(format string, args ...any) { logStep(a, format, args...) },
	}, nil
}

func (k *kubectl) helper(ctx context.Context) *drain.Helper {
	return &drain.Helper{
		Ctx: ctx, Client: k.client, Force: k.flags.force, GracePeriodSeconds: k.flags.gracePeriod, IgnoreAllDaemonSets: k.flags.ignoreDaemonSets,
		DeleteEmptyDirData: k.flags.deleteEmptyDirData, PodSelector: k.flags.podSelector, ChunkSize: 500, EvictErrorRetryDelay: retryDelay,
		Out: io.Discard, ErrOut: k.out,
	}
}

// Pods implements drain.Kubectl.
func (k *kubectl) Pods(ctx context.Context, node string) (pods []corev1.Pod, warnings string, fails []string, err error) {
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
func (k *kubectl) Cordon(ctx context.Context, node *corev1.Node, dry bool) error {
	c := drain.NewCordonHelper(node)
	if !c.UpdateIfRequired(true) {
		return nil
	}
	err, patchErr := c.PatchOrReplaceWithContext(ctx, k.client, dry)
	return errors.Join(err, patchErr)
}

// Evict implements drain.Kubectl.
func (k *kubectl) Evict(ctx context.Context, pods []corev1.Pod) error {
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
