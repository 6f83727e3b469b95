// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/certificate"
)

// certificateFlags adds the flags of the serving certificate.
func certificateFlags(flags *flag.FlagSet) *certificate.Options {
	o := &certificate.Options{Settings: certificate.DefaultSettings()}
	flags.StringVar(&o.Dir, "cert-dir", "", "`folder` with tls.crt and tls.key that another program maintains, read again when they change; if empty, this program maintains an authority and a certificate in -certificate-secret")
	flags.StringVar(&o.Secret, "certificate-secret", "etcd-webhook-certificate", "`name` of the Secret with the authority and the certificate in the pod's namespace, if -cert-dir is empty")
	flags.StringVar(&o.Service, "webhook-service", "etcd-webhook", "`name` of the Service that the API server calls")
	flags.StringVar(&o.Webhooks, "webhook-configuration", "etcd-webhook", "`name` of the MutatingWebhookConfiguration that must trust the certificate's authority")
	flags.DurationVar(&o.Settings.Life, "certificate-lifetime", o.Settings.Life, "lifetime of a serving certificate; it is renewed when a third is left")
	flags.DurationVar(&o.Settings.AuthorityLife, "authority-lifetime", o.Settings.AuthorityLife, "lifetime of an authority; the next one is created when a third is left")
	flags.DurationVar(&o.Settings.Settle, "authority-settle-time", o.Settings.Settle, "how long every webhook must have trusted an authority before its certificate is served")
	return o
}

// newCertificates returns the keeper of the serving certificate. Its namespace is that of
// the leader's lease: the one of the flag, or else the pod's.
func newCertificates(o options, config *rest.Config, logger logr.Logger) (*certificate.Keeper, error) {
	settings := *o.certificate
	settings.Clock, settings.Logger, settings.Namespace = clock.RealClock{}, logger, o.leaseNamespace
	if settings.Namespace == "" {
		text, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
		if errors.Is(err, os.ErrNotExist) {
			return nil, errors.New("find the pod's namespace: this is not a pod; set -leader-election-namespace")
		}
		if err != nil {
			return nil, fmt.Errorf("find the pod's namespace: %w", err)
		}
		settings.Namespace = strings.TrimSpace(string(text))
	}
	return certificate.New(config, settings)
}
