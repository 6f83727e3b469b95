// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"encoding/json"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is a kind of object, as kubectl names it.
type Kind string

// The kinds on which actions act.
const (
	ConfigMap   Kind = "configmap"
	Etcd        Kind = "etcd"
	Lease       Kind = "lease"
	Claim       Kind = "pvc"
	Pod         Kind = "pod"
	StatefulSet Kind = "statefulset"
	Volume      Kind = "pv"
)

var versionKinds = map[Kind]schema.GroupVersionKind{
	ConfigMap:   corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	Etcd:        druidv1alpha1.SchemeGroupVersion.WithKind("Etcd"),
	Lease:       coordinationv1.SchemeGroupVersion.WithKind("Lease"),
	Claim:       corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	Pod:         corev1.SchemeGroupVersion.WithKind("Pod"),
	StatefulSet: appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	Volume:      corev1.SchemeGroupVersion.WithKind("PersistentVolume"),
}

// object returns an object of which only the name is known.
func (c Clients) object(kind Kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(versionKinds[kind])
	o.SetName(name)
	if kind != Volume {
		o.SetNamespace(c.Namespace)
	}
	return o
}

// read returns an object, nil if there is none.
func (c Clients) read(ctx context.Context, kind Kind, name string) (*unstructured.Unstructured, error) {
	o := c.object(kind, name)
	err := c.Kube.Get(ctx, client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, name, err)
	}
	return o, nil
}

// merge patches an object.
func (c Clients) merge(ctx context.Context, kind Kind, name string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := c.Kube.Patch(ctx, c.object(kind, name), client.RawPatch(types.MergePatchType, text)); err != nil {
		return fmt.Errorf("patch %s %s: %w", kind, name, err)
	}
	return nil
}
