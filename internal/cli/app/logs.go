// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/etcdlog"
)

// endLines and stackLines are how many lines are read from the end of a log, the second if the first are only a part
// of the stacks of a crash. Each has a limit in bytes, at which the API server cuts the end off.
const (
	endLines   = 60
	endBytes   = 256 << 10
	stackLines = 20_000
	stackBytes = 8 << 20
)

// Logs returns a function that reads the last lines of a container's log.
func (a *App) Logs(namespace string) (etcdlog.Reader, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	pods, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pod, container string, previous bool) (string, error) {
		read := func(lines, bytes int64) (string, error) {
			text, err := pods.Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
				Container: container, Previous: previous, TailLines: &lines, LimitBytes: &bytes,
			}).DoRaw(ctx)
			return string(text), err
		}
		text, err := read(endLines, endBytes)
		if err == nil && etcdlog.BeginsInStack(text) {
			return read(stackLines, stackBytes)
		}
		return text, err
	}, nil
}
