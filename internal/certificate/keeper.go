// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apiserver"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scrape"
)

// Options configures a Keeper.
type Options struct {
	// Dir is a folder with tls.crt and tls.key that another program maintains. If it is
	// empty, the Keeper maintains its own authority and certificate in the Secret.
	Dir string
	// Namespace is the namespace of the Secret and of the Service.
	Namespace string
	// Secret, Service and Webhooks are the names of the Secret, of the Service
	// that API servers call, and of the MutatingWebhookConfiguration.
	Secret, Service, Webhooks string
	// Settings are ignored except for Settle if Dir is set.
	Settings Settings
	Clock    clock.Clock
	Logger   logr.Logger
}

// Keeper is a manager's Runnable that maintains the serving certificate.
type Keeper struct {
	settings Settings
	host     string
	objects  objects
	watches  []func(context.Context) (watch.Interface, error)
	files    *files // nil if the Keeper maintains the Secret
	clock    clock.Clock
	logger   logr.Logger
	server   *server
	history  trustHistory
	failed   int // consecutive passes that failed
	// changed is a wake-up signal with a buffer of one.
	changed chan struct{}
}

// New returns a Keeper. It does nothing before it is started, but the files in Dir must exist.
func New(config *rest.Config, o Options) (*Keeper, error) {
	serverClock := &apiserver.Clock{PassiveClock: o.Clock}
	client, err := kubernetes.NewForConfig(serverClock.LearnFrom(config))
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	a := &apiServer{client: client, namespace: o.Namespace, secretName: o.Secret, webhooksName: o.Webhooks}
	k := &Keeper{
		settings: o.Settings, host: o.Service + "." + o.Namespace + ".svc", objects: a,
		watches: []func(context.Context) (watch.Interface, error){a.watchConfiguration},
		clock:   o.Clock, logger: o.Logger.WithName("certificates"), server: &server{clock: serverClock}, changed: make(chan struct{}, 1),
	}
	if o.Dir == "" {
		k.watches = append(k.watches, a.watchSecret)
	} else if k.files, err = watchFiles(o.Dir, k.wake); err != nil {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	return k, scrape.Register(k.server)
}

// GetCertificate implements tls.Config.GetCertificate.
func (k *Keeper) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return k.server.GetCertificate(hello)
}

// Check returns a readiness check. It fails while there is no certificate, and before the served
// one expires.
func (k *Keeper) Check(r *http.Request) error { return k.server.Check(r) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (k *Keeper) NeedLeaderElection() bool { return false }

// SetupWithManager adds the Keeper and its readiness check.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error {
	if err := mgr.Add(k); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("certificate", k.Check)
}

// Start implements manager.Runnable.
func (k *Keeper) Start(ctx context.Context) error {
	for _, w := range k.watches {
		go k.watchChanges(ctx, w)
	}
	if k.files != nil {
		go func() {
			if err := k.files.Start(ctx); err != nil {
				k.logger.Error(err, "the files of the serving certificate are no longer watched")
			}
		}()
	}
	for ctx.Err() == nil {
		pause := k.makePasses(ctx)
		select {
		case <-ctx.Done():
		case <-k.changed:
		case <-k.clock.After(pause):
		}
	}
	return nil
}

// makePasses makes passes until there is nothing to write, and returns how long to wait if
// nothing changes.
func (k *Keeper) makePasses(ctx context.Context) time.Duration {
	for range maxWrites {
		wrote, err := k.pass(ctx)
		switch {
		case ctx.Err() != nil:
			return 0
		case lostRace(err):
			k.logger.V(1).Info("another client wrote first", "error", err.Error())
			return 200 * time.Millisecond
		case err != nil:
			k.failed++
			pause := min(30*time.Second, 250*time.Millisecond<<min(k.failed, 7))
			k.logger.Error(err, "cannot maintain the certificates; retrying", "after", pause)
			return pause
		}
		k.failed = 0
		if !wrote {
			return k.pause()
		}
	}
	return time.Second
}

// maxWrites limits the writes without a pause, in case another client reverts each of them.
const maxWrites = 8

// pause returns how long nothing becomes due: until trust has settled, a part of a
// certificate's life, and at most a minute, because clocks can jump.
func (k *Keeper) pause() time.Duration {
	pause := min(time.Minute, max(k.settings.Life/20, 100*time.Millisecond))
	if left := k.settings.Settle - k.clock.Since(k.history.since); left > 0 {
		pause = min(pause, left+10*time.Millisecond)
	}
	return pause
}

// wake requests a pass.
func (k *Keeper) wake() {
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// watchChanges requests a pass after every event of a watch.
func (k *Keeper) watchChanges(ctx context.Context, open func(context.Context) (watch.Interface, error)) {
	for ctx.Err() == nil {
		pause := time.Second
		if w, err := open(ctx); err != nil {
			k.logger.V(1).Info("cannot open a watch; retrying", "error", err.Error())
			pause = 10 * time.Second
		} else {
			for range w.ResultChan() {
				k.wake()
			}
			w.Stop()
		}
		select {
		case <-ctx.Done():
		case <-k.clock.After(pause):
		}
	}
}
