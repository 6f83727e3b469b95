// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// scaled is what the scale rule needs of an Etcd, a StatefulSet, or a Scale of either.
type scaled struct {
	Metadata struct {
		DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int32 `json:"replicas"`
		// Ordinals is nil for a Scale, which doesn't have them.
		Ordinals  *appsv1.StatefulSetOrdinals `json:"ordinals"`
		Retention *struct {
			WhenScaled *appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenScaled"`
		} `json:"persistentVolumeClaimRetentionPolicy"`
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// replicas returns the number of replicas. A Scale omits 0, and for the other objects 1 is the
// default.
func (s *scaled) replicas(subResource string) int {
	switch {
	case s.Spec.Replicas != nil:
		return int(*s.Spec.Replicas)
	case subResource == "scale":
		return 0
	}
	return 1
}

// whenScaled returns what is done with the claims of removed replicas, nil for the default and for a Scale.
func (s *scaled) whenScaled() *appsv1.PersistentVolumeClaimRetentionPolicyType {
	if s.Spec.Retention == nil {
		return nil
	}
	return s.Spec.Retention.WhenScaled
}

// readScaleWrite decodes the object of a request before and after the write. going is true if it
// is being deleted.
func readScaleWrite(req admission.Request) (write observe.ScaleWrite, going bool, err error) {
	var before, after scaled
	creates := req.Operation == admissionv1.Create
	if creates {
		err = json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &after)
	} else {
		before, after, err = readUpdate[scaled](req)
	}
	if err != nil {
		return write, false, err
	}
	write = observe.ScaleWrite{
		Etcd: req.Resource.Group == druidv1alpha1.GroupName, Namespace: req.Namespace, Name: req.Name,
		Now: before.replicas(req.SubResource), Asked: after.replicas(req.SubResource),
		FirstNow: owner.FirstOrdinal(before.Spec.Ordinals), First: owner.FirstOrdinal(after.Spec.Ordinals), OfScale: req.SubResource == "scale",
		RestartNow: before.Metadata.Annotations[v1alpha1.RestartAnnotation], Restart: after.Metadata.Annotations[v1alpha1.RestartAnnotation],
		RestoreNow: before.Metadata.Annotations[v1alpha1.RestoreAnnotation], Restore: after.Metadata.Annotations[v1alpha1.RestoreAnnotation],
	}
	if creates {
		var sts appsv1.StatefulSet
		if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &sts); err != nil {
			return write, false, err
		}
		sts.Namespace = req.Namespace
		// The name may be one that the API server has generated.
		write.Creates, write.Name, write.Now, write.FirstNow = &sts, sts.Name, 0, write.First
	}
	write.Size = declaredSize(before.Metadata.Annotations[v1alpha1.SizeAnnotation], after.Metadata.Annotations[v1alpha1.SizeAnnotation])
	write.WhenScaled, write.WhenScaledNow = after.whenScaled(), before.whenScaled()
	if !write.Etcd {
		write.TemplateNow, write.Template = before.Spec.Template, after.Spec.Template
	}
	return write, after.Metadata.DeletionTimestamp != nil, nil
}

// declaredSize returns the size that a write declares, empty for none. One that is not newer than what it
// replaces is of a manifest that was saved before.
func declaredSize(before, after string) string {
	if before == after {
		return ""
	}
	last, dated := annotation.SizeTime(before)
	if at, ok := annotation.SizeTime(after); dated && (!ok || !at.After(last)) {
		return ""
	}
	return after
}

// readUpdate decodes the object of a request before and after the write.
func readUpdate[T any](req admission.Request) (before, after T, err error) {
	if err = json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &after); err != nil {
		return before, after, err
	}
	err = json.UnmarshalCaseSensitivePreserveInts(req.OldObject.Raw, &before)
	return before, after, err
}
