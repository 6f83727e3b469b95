// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Unmark removes the mark of an operation, an annotation, from the StatefulSet of a cluster. It writes nothing if there is
// none.
func Unmark(ctx context.Context, kube client.Client, o owner.Owner, annotation string) error {
	sts, err := ReadStatefulSet(ctx, kube, o)
	if err != nil {
		return err
	}
	if _, marked := sts.Annotations[annotation]; !marked {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": sts.UID, "annotations": map[string]any{annotation: nil},
	}})
	if err != nil {
		return err
	}
	if err := kube.Patch(ctx, sts, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("remove annotation %s from StatefulSet %s/%s: %w", annotation, sts.Namespace, sts.Name, err)
	}
	return nil
}

// UnmarkCommand returns the command that removes the mark of an operation from a StatefulSet.
func UnmarkCommand(sts *appsv1.StatefulSet, annotation string) string {
	return fmt.Sprintf("kubectl annotate statefulset %s -n %s %s-", sts.Name, sts.Namespace, annotation)
}

// Unmarked is the journal of an operation that would be followed without its mark on the StatefulSet. More users may write
// the journal than the StatefulSet.
type Unmarked struct {
	Owner owner.Owner
	// Journal is the name of the ConfigMap.
	Journal string
	// Operation is what the journal is of, and On its object: "restore", "into StatefulSet team/main".
	Operation, On string
	// Has is a clause about the journal: "has 3 steps that are done".
	Has string
	// Annotation is the mark. When is the moment in which the operation sets it: "it stops the members".
	Annotation, When string
	// If is the condition for a user to set the mark: "the restore did stop the members". Value is its value as in a
	// shell, and With what the user replaces in that, empty for nothing.
	If, Value, With string
}

// String returns why nothing is done, and how to go on.
func (u Unmarked) String() string {
	set, namespace := u.Owner.StatefulSet, u.Owner.Namespace
	return fmt.Sprintf("the journal of a %[1]s %[2]s (ConfigMap %[3]s) %[4]s, and StatefulSet %[5]s doesn't have annotation %[6]s, which the %[1]s sets when %[7]s. "+
		"Every user who may write ConfigMaps can write the journal, so nothing is done because of it. If %[8]s, set the annotation again%[9]s, and repeat the command: "+
		"kubectl annotate statefulset %[5]s %[6]s=%[10]s -n %[11]s. Otherwise remove the journal: kubectl delete configmap %[3]s -n %[11]s",
		u.Operation, u.On, u.Journal, u.Has, set, u.Annotation, u.When, u.If, u.With, u.Value, namespace)
}
