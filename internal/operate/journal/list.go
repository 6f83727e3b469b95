// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Listed is a journal with its ConfigMap. The StatefulSet may not exist any more.
type Listed struct {
	ConfigMap corev1.ConfigMap
	// StatefulSet is the name of the StatefulSet that the operation changes.
	StatefulSet string
	// Journal is nil if the text can't be read. Err is then the reason.
	Journal *Journal
	Err     error
}

// List returns all journals in a namespace, or in all for an empty one. It finds them by the label
// that Create sets.
func List(ctx context.Context, kube client.Reader, namespace string) ([]Listed, error) {
	var all corev1.ConfigMapList
	if err := kube.List(ctx, &all, client.InNamespace(namespace), client.MatchingLabels{managedBy: manager}); err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var out []Listed
	for i := range all.Items {
		name, named := strings.CutPrefix(all.Items[i].Name, nameOf(""))
		if _, has := all.Items[i].Data[dataKey]; !named || !has {
			continue // another object of this program, or of a user
		}
		l := Listed{ConfigMap: all.Items[i], StatefulSet: name}
		j := &Journal{config: all.Items[i]}
		if l.Err = j.parse(); l.Err == nil {
			l.Journal = j
		}
		out = append(out, l)
	}
	return out, nil
}
