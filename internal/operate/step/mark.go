// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Mark is what the first step of a restore that changes a StatefulSet records on it: how the StatefulSet was before.
// More users may write the journal than the StatefulSet, so what is written to it later comes from here.
type Mark struct {
	// Replicas is the number of replicas.
	Replicas int32
	// DeletesClaims means that a scale-in deleted claims.
	DeletesClaims bool
}

// deletes is the word of a mark for DeletesClaims.
const deletes = "Delete"

// MarkOf returns the mark of a StatefulSet. It returns false if there is none, or one without a number.
func MarkOf(sts *appsv1.StatefulSet) (Mark, bool) {
	fields := strings.Fields(sts.Annotations[v1alpha1.RestoreAnnotation])
	if len(fields) < 2 {
		return Mark{}, false
	}
	n, err := strconv.ParseUint(fields[1], 10, 16)
	return Mark{Replicas: int32(n), DeletesClaims: len(fields) > 2 && fields[2] == deletes}, err == nil
}

// mark returns the value of the annotation for a write now to a StatefulSet.
func (c Clients) mark(ctx context.Context, name string) (string, error) {
	var sts appsv1.StatefulSet
	if err := c.Kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &sts); err != nil {
		return "", fmt.Errorf("read StatefulSet %s: %w", name, err)
	}
	return markOf(&sts, c.Clock.Now()), nil
}

// markOf returns the value of the annotation for a write at a time. It keeps what the first step recorded.
func markOf(sts *appsv1.StatefulSet, now time.Time) string {
	m, marked := MarkOf(sts)
	if !marked {
		m = Mark{Replicas: ptr.Deref(sts.Spec.Replicas, 1), DeletesClaims: operate.DeletesClaims(sts)}
	}
	value := fmt.Sprintf("%s %d", now.UTC().Format(time.RFC3339Nano), m.Replicas) //nolint:forbidigo // stored
	if m.DeletesClaims {
		value += " " + deletes
	}
	return value
}
