// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	webhookserver "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kubectl-etcd/kubectl-etcd/internal/certificate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/version"
	"github.com/kubectl-etcd/kubectl-etcd/webhook"
)

// serve answers reviews, and runs the controllers while it leads, until the context ends.
func serve(ctx context.Context, o options, stderr io.Writer) error {
	logger := newLogger(stderr, o.logLevel)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	// A request that waits here delays admission, or a budget that must be tightened. The API
	// server's own fairness is the limit, and source.Bounded for what users cause.
	config.QPS = -1

	self, err := withEarlyProbes(ctx, o.probes, func() (string, error) { return ownUsername(ctx, config, logger) })
	if err != nil {
		return err
	}
	certificates, err := newCertificates(o, config, logger)
	if err != nil {
		return err
	}
	health := &watchHealth{clock: clock.RealClock{}, logger: logger.WithName("caches")}
	mgr, err := newManager(o, config, certificates, health)
	if err != nil {
		return err
	}
	if err := certificates.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the certificates: %w", err)
	}
	leases := &leaseclock.Clock{Clock: clock.RealClock{}}
	reader := &observe.Reader{
		Reader: mgr.GetClient(), Live: source.Bounded(mgr.GetAPIReader(), clock.RealClock{}), Missing: source.NewMissing(clock.RealClock{}), Leases: leases,
	}
	if err := addInformers(ctx, mgr, reader); err != nil {
		return err
	}
	replica, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read this replica's name: %w", err)
	}
	built := version.Get()
	err = webhook.Register(mgr.GetWebhookServer(), webhook.Config{
		Reader: reader, Self: self, Identity: webhook.Identity{Replica: replica, Version: built.Version},
		Records: mgr.GetClient(), StatefulSets: mgr.GetClient(), Metrics: metrics.Registry,
	})
	if err != nil {
		return fmt.Errorf("register the webhooks: %w", err)
	}
	if err := addLeader(ctx, mgr, o, reader); err != nil {
		return err
	}
	if err := addProbes(mgr, health); err != nil {
		return err
	}
	logger.Info("starting", "version", built.Version, "commit", built.Commit, "user", self)
	return mgr.Start(withDelayedCancel(ctx, reviewGrace))
}

// newManager returns the manager that answers reviews. It runs on every replica.
func newManager(o options, config *rest.Config, certificates *certificate.Keeper, health *watchHealth) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		return nil, err
	}
	tlsOptions := func(c *tls.Config) {
		c.MinVersion, c.GetCertificate = tls.VersionTLS13, certificates.GetCertificate
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		Cache:                   source.CacheOptions(),
		NewCache:                health.newCache,
		Metrics:                 metricsOptions(o, tlsOptions),
		HealthProbeBindAddress:  o.probes,
		GracefulShutdownTimeout: new(shutdownLimit),
		WebhookServer: webhookserver.NewServer(webhookserver.Options{
			Port:    o.webhookPort,
			TLSOpts: []func(*tls.Config){tlsOptions},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("set up the manager: %w", err)
	}
	return mgr, nil
}
