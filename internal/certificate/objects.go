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

// objects are the two that a Keeper keeps. What it reads is never older than its
// last write, and a write fails with a conflict where the object has changed
// since it was read.
type objects interface {
	configuration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) // nil where there is none
	secret(ctx context.Context) (*corev1.Secret, error)                                               // nil where there is none
	writeBundle(ctx context.Context, read *admissionregistrationv1.MutatingWebhookConfiguration, bundle []byte) error
	writeSecret(ctx context.Context, s *corev1.Secret) error // creates one that has no version
}

// fieldOwner is by what name the API server knows that the caBundle is ours, so
// that applying the manifests again leaves it alone.
const fieldOwner = "etcd-webhook-certificates"

// apiServer has the objects by their names and asks for no others: it needs no
// right to list Secrets.
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

// writeBundle patches the caBundle of each webhook and nothing else.
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
		return fmt.Errorf("write Secret %s/%s: it can't be changed, and has to be deleted; then another is made: kubectl delete secret %s -n %s: %w",
			a.namespace, a.secretName, a.secretName, a.namespace, err)
	case err != nil:
		return fmt.Errorf("write Secret %s/%s: %w", a.namespace, a.secretName, err)
	}
	return nil
}

// watchConfiguration and watchSecret tell of every change, first of the object as it is.
func (a *apiServer) watchConfiguration(ctx context.Context) (watch.Interface, error) {
	return a.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Watch(ctx, only(a.webhooksName))
}

func (a *apiServer) watchSecret(ctx context.Context) (watch.Interface, error) {
	return a.client.CoreV1().Secrets(a.namespace).Watch(ctx, only(a.secretName))
}

// only asks for one object by its name, which a role can allow by that name.
func only(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
}

// raced says that somebody else was faster, so that everything must be read again.
func raced(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
