// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// Reader reads the end of the log of a pod's container, or of its previous instance.
type Reader func(ctx context.Context, pod, container string, previous bool) (string, error)

// ReadEnd returns what the end of the log of a container's etcd shows. Last is of the newest instance that
// has printed something.
func ReadEnd(ctx context.Context, logs Reader, pod *corev1.Pod, container string, now time.Time) (end End, err error) {
	for _, previous := range []bool{false, true} {
		if previous && runsFor(pod, container, now) > settledRun {
			break // it has passed what ended the earlier one
		}
		text, err := logs(ctx, pod.Name, container, previous)
		var status apierrors.APIStatus
		switch {
		case apierrors.IsForbidden(err):
			return end, fmt.Errorf("read the log of %s, to see whether its data is lost: %w", pod.Name, err)
		case errors.As(err, &status), err != nil:
			continue // it has not run, or its node is gone
		}
		of := endOf(text)
		end.Last = cmp.Or(end.Last, of.Last)
		if of.Fatal != "" {
			return of, nil
		}
	}
	return end, nil
}

// settledRun is how long etcd runs at most before it ends because of lost data.
const settledRun = 3 * time.Minute

// runsFor returns for how long a container has run since its last start, 0 if it doesn't run.
func runsFor(pod *corev1.Pod, container string, now time.Time) time.Duration {
	if since, runs := podstate.ContainerSince(pod, container); runs {
		return now.Sub(since)
	}
	return 0
}
