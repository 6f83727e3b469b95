// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// modelReplica is a Keeper whose every request waits until the model lets it proceed.
type modelReplica struct {
	*Keeper
	m       *model
	name    string
	proceed chan struct{}
	paused  chan struct{}
	stop    context.CancelFunc
}

// pause waits until the replica may proceed. It is called at each request and between passes.
func (r *modelReplica) pause(ctx context.Context) error {
	select {
	case r.paused <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.proceed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// step lets one replica make one request.
func (r *modelReplica) step() {
	r.proceed <- struct{}{}
	<-r.paused
}

func (r *modelReplica) configuration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	if err := r.pause(ctx); err != nil {
		return nil, err
	}
	return r.m.config.DeepCopy(), nil
}

func (r *modelReplica) secret(ctx context.Context) (*corev1.Secret, error) {
	if err := r.pause(ctx); err != nil {
		return nil, err
	}
	return r.m.secret.DeepCopy(), nil
}

var conflict = apierrors.NewConflict(schema.GroupResource{}, "", nil)

func (r *modelReplica) writeBundle(ctx context.Context, read *admissionregistrationv1.MutatingWebhookConfiguration, bundle []byte) error {
	if err := r.pause(ctx); err != nil {
		return err
	}
	if r.m.config == nil || r.m.config.ResourceVersion != read.ResourceVersion {
		return conflict
	}
	if r.m.forbidden {
		return apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	}
	for i := range r.m.config.Webhooks {
		r.m.config.Webhooks[i].ClientConfig.CABundle = bundle
	}
	r.m.changed()
	r.m.log("%s makes %d webhooks trust %d bytes", r.name, len(r.m.config.Webhooks), len(bundle))
	return nil
}

func (r *modelReplica) writeSecret(ctx context.Context, s *corev1.Secret) error {
	if err := r.pause(ctx); err != nil {
		return err
	}
	switch {
	case r.m.secret == nil && s.ResourceVersion != "", r.m.secret != nil && r.m.secret.ResourceVersion != s.ResourceVersion:
		return conflict
	case !r.m.valid(s):
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, s.Name, nil)
	}
	r.m.secret = s.DeepCopy()
	r.m.secret.ResourceVersion = r.m.next()
	st := readState(s)
	r.m.log("%s writes the Secret: signs %v, next %v, former %d, leaf %v", r.name, st.authority != nil, st.next != nil, len(st.former), st.leaf != nil)
	return nil
}
