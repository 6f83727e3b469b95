// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"
	"encoding/json"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// objects reads and writes the two objects of a Keeper. A read is never older than the
// Keeper's last write, and a write fails with a conflict if the object has changed since it
// was read.
type objects interface {
	configuration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) // nil if it does not exist
	secret(ctx context.Context) (*corev1.Secret, error)                                               // nil if it does not exist
	writeBundle(ctx context.Context, read *admissionregistrationv1.MutatingWebhookConfiguration, bundle []byte) error
	writeSecret(ctx context.Context, s *corev1.Secret) error // creates a Secret without a resource version
}

// fieldOwner is the owner of the caBundle in the managed fields, so that it stays when the
// manifests are applied again.
const fieldOwner = "etcd-webhook-certificates"

// apiServer implements objects. It requests objects only by name, so it needs no permission
// to list Secrets.
type apiServer struct {
	client                              kubernetes.Interface
	namespace, secretName, webhooksName string
}

func (a *apiServer) configuration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	c, err := a.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, a.webhooksName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read MutatingWebhookConfiguration %s: %w", a.webhooksName, err)
	}
	return c, nil
}

func (a *apiServer) secret(ctx context.Context) (*corev1.Secret, error) {
	s, err := a.client.CoreV1().Secrets(a.namespace).Get(ctx, a.secretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s/%s: %w", a.namespace, a.secretName, err)
	}
	return s, nil
}

// writeBundle patches only the caBundle of each webhook.
func (a *apiServer) writeBundle(ctx context.Context, read *admissionregistrationv1.MutatingWebhookConfiguration, bundle []byte) error {
	patch, err := bundlePatch(read, bundle)
	if err != nil {
		return err
	}
	_, err = a.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Patch(ctx, a.webhooksName, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldOwner})
	if err != nil {
		return fmt.Errorf("write the caBundle of MutatingWebhookConfiguration %s: %w", a.webhooksName, err)
	}
	return nil
}

func bundlePatch(read *admissionregistrationv1.MutatingWebhookConfiguration, bundle []byte) ([]byte, error) {
	type clientConfig struct {
		CABundle []byte `json:"caBundle"`
	}
	type webhook struct {
		Name         string       `json:"name"`
		ClientConfig clientConfig `json:"clientConfig"`
	}
	var patch struct {
		Metadata struct {
			ResourceVersion string    `json:"resourceVersion"`
			UID             types.UID `json:"uid"`
		} `json:"metadata"`
		Webhooks []webhook `json:"webhooks"`
	}
	patch.Metadata.ResourceVersion, patch.Metadata.UID = read.ResourceVersion, read.UID
	for _, w := range read.Webhooks {
		patch.Webhooks = append(patch.Webhooks, webhook{w.Name, clientConfig{bundle}})
	}
	return json.Marshal(patch)
}

func (a *apiServer) writeSecret(ctx context.Context, s *corev1.Secret) error {
	secrets := a.client.CoreV1().Secrets(a.namespace)
	var err error
	if s.ResourceVersion == "" {
		s.Namespace, s.Name = a.namespace, a.secretName
		_, err = secrets.Create(ctx, s, metav1.CreateOptions{FieldManager: fieldOwner})
	} else {
		_, err = secrets.Update(ctx, s, metav1.UpdateOptions{FieldManager: fieldOwner})
	}
	switch {
	case apierrors.IsInvalid(err):
		return fmt.Errorf("write Secret %s/%s: it is immutable; delete it so that a new one is created: kubectl delete secret %s -n %s: %w",
			a.namespace, a.secretName, a.secretName, a.namespace, err)
	case err != nil:
		return fmt.Errorf("write Secret %s/%s: %w", a.namespace, a.secretName, err)
	}
	return nil
}

// watchConfiguration and watchSecret send the present object first, and then every change.
func (a *apiServer) watchConfiguration(ctx context.Context) (watch.Interface, error) {
	return a.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Watch(ctx, byName(a.webhooksName))
}

func (a *apiServer) watchSecret(ctx context.Context) (watch.Interface, error) {
	return a.client.CoreV1().Secrets(a.namespace).Watch(ctx, byName(a.secretName))
}

// byName selects one object by its name. A role can allow that for the name alone.
func byName(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
}

// lostRace reports whether another client wrote first, so that everything must be read again.
func lostRace(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
