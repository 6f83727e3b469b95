// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// killReplica kills one replica of etcd-webhook. Its Deployment creates another one.
func killReplica(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	all, err := install.Replicas(ctx, w.kube)
	if err != nil || len(all) == 0 {
		return "left out: there is no replica", nil, err
	}
	pod := all[s.Member%len(all)]
	return pod.Name, nil, install.Kill(ctx, w.kube, pod)
}

// killReplicas kills all replicas of etcd-webhook. The fault ends when they run again.
func killReplicas(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	all, err := install.Replicas(ctx, w.kube)
	if err != nil {
		return "", nil, err
	}
	w.change(func(f *facts) { f.absent++ })
	return fmt.Sprintf("%d replicas", len(all)), w.reviewAgain, install.Kill(ctx, w.kube, all...)
}

// freezeReplica stops the process of one replica of etcd-webhook, until the fault ends or the
// kubelet kills it.
func freezeReplica(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	all, err := install.Replicas(ctx, w.kube)
	if err != nil || len(all) == 0 {
		return "left out: there is no replica", nil, err
	}
	outcome, thaw := w.freeze(all[s.Member%len(all)])
	return outcome, func(ctx context.Context) error {
		thaw()
		w.awaitReplicas(ctx)
		return nil
	}, nil
}

// freezeReplicas stops the processes of all replicas of etcd-webhook.
func freezeReplicas(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	all, err := install.Replicas(ctx, w.kube)
	if err != nil {
		return "", nil, err
	}
	w.change(func(f *facts) { f.absent++ })
	outcome, thaw := w.freeze(all...)
	return outcome, func(ctx context.Context) error {
		thaw()
		return w.reviewAgain(ctx)
	}, nil
}

// freeze stops the processes of these replicas. One that is about to start has none.
func (w *world) freeze(replicas ...corev1.Pod) (outcome string, thaw func()) {
	var names []string
	var thaws []func()
	for _, pod := range replicas {
		thaw, err := clusters.Freeze(pod.UID, install.IsWebhook)
		if err != nil {
			w.saw("%s: %v", pod.Name, err)
			continue
		}
		names, thaws = append(names, pod.Name), append(thaws, thaw)
	}
	return fmt.Sprintf("froze %q", names), func() {
		for _, thaw := range thaws {
			thaw()
		}
	}
}

// reviewAgain ends a fault of all replicas of etcd-webhook. If they are not ready soon, they count
// as absent until the end of the sequence.
func (w *world) reviewAgain(ctx context.Context) error {
	if w.awaitReplicas(ctx) {
		w.change(func(f *facts) { f.absent-- })
	}
	return nil
}

// awaitReplicas waits briefly until all replicas of etcd-webhook are ready, and reports whether they are.
func (w *world) awaitReplicas(ctx context.Context) bool {
	return w.briefly(ctx, "all replicas of etcd-webhook", w.replicasReady)
}

func (w *world) replicasReady(ctx context.Context) (string, bool, error) {
	var printed bytes.Buffer
	err := clusters.Kubectl(ctx, w.bed, &printed, "rollout", "status", "deployment/"+install.Name, "--namespace", install.Namespace, "--timeout", "30s")
	return printed.String(), err == nil, nil
}

// restartAPIServer stops the API server and starts it again.
func restartAPIServer(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	if err := w.bed.StopAPIServer(ctx); err != nil {
		return "", nil, err
	}
	return "restarted", nil, w.bed.StartAPIServer(ctx)
}
