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

// certificateFlags are those of the serving certificate.
func certificateFlags(flags *flag.FlagSet) *certificate.Options {
	o := &certificate.Options{Settings: certificate.DefaultSettings()}
	flags.StringVar(&o.Dir, "cert-dir", "", "`folder` with tls.crt and tls.key that somebody else keeps, read again when they change; empty to keep an authority and a certificate in -certificate-secret")
	flags.StringVar(&o.Secret, "certificate-secret", "etcd-webhook-certificate", "`name` of the Secret in the own namespace with the authority and the certificate, where -cert-dir is empty")
	flags.StringVar(&o.Service, "webhook-service", "etcd-webhook", "`name` of the Service that the API server calls")
	flags.StringVar(&o.Webhooks, "webhook-configuration", "etcd-webhook", "`name` of the MutatingWebhookConfiguration that has to trust the certificate's authority")
	flags.DurationVar(&o.Settings.Life, "certificate-lifetime", o.Settings.Life, "how long a serving certificate lives; it is renewed when a third is left")
	flags.DurationVar(&o.Settings.AuthorityLife, "authority-lifetime", o.Settings.AuthorityLife, "how long an authority lives; the next one is made when a third is left")
	flags.DurationVar(&o.Settings.Settle, "authority-settle-time", o.Settings.Settle, "how long every webhook must have trusted an authority before a certificate by it is served")
	return o
}

// newCertificates makes what keeps the serving certificate, in the namespace
// that was given or else the pod's own.
func newCertificates(o options, config *rest.Config, logger logr.Logger) (*certificate.Keeper, error) {
	keep := *o.certificate
	keep.Clock, keep.Logger, keep.Namespace = clock.RealClock{}, logger, o.electIn
	if keep.Namespace == "" {
		text, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
		if errors.Is(err, os.ErrNotExist) {
			return nil, errors.New("find the own namespace: this is no pod; say it with -leader-election-namespace")
		}
		if err != nil {
			return nil, fmt.Errorf("find the own namespace: %w", err)
		}
		keep.Namespace = strings.TrimSpace(string(text))
	}
	return certificate.New(config, keep)
}
