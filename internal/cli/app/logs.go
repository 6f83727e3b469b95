// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
)

// Logs returns a function that reads the last lines of a container's log.
func (a *App) Logs(namespace string) (membership.Logs, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	pods, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pod, container string, previous bool) (string, error) {
		text, err := pods.Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
			Container: container, Previous: previous, TailLines: new(int64(60)), LimitBytes: new(int64(256 << 10)),
		}).DoRaw(ctx)
		return string(text), err
	}, nil
}
