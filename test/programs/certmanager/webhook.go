// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/cert-manager/cert-manager/internal/webhook"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
	"k8s.io/klog/v2"
)

// runWebhook runs cert-manager's webhook with an authority of its own, which the
// cainjector makes API servers trust.
func runWebhook(ctx context.Context) error {
	config, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	config.SecurePort, config.HealthzPort, config.MetricsListenAddress = 10250, 6080, "0"
	dynamic := &config.TLSConfig.Dynamic
	dynamic.SecretNamespace, dynamic.SecretName = namespace, "cert-manager-webhook-ca"
	dynamic.DNSNames = []string{"cert-manager-webhook." + namespace + ".svc"}
	dynamic.LeafDuration = 7 * 24 * time.Hour
	server, err := webhook.NewCertManagerWebhookServer(klog.Background(), *config)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
