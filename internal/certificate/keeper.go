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
)

// Options say what a Keeper keeps.
type Options struct {
	// Dir is a folder with tls.crt and tls.key that somebody else keeps. Empty,
	// the Keeper keeps an authority and a certificate of its own in the Secret.
	Dir string
	// Namespace is that of the Secret and of the Service.
	Namespace string
	// Secret, Service and Webhooks are the names of the Secret, of the Service
	// that API servers call, and of the MutatingWebhookConfiguration.
	Secret, Service, Webhooks string
	// Settings are ignored but for Settle where Dir is set.
	Settings Settings
	Clock    clock.Clock
	Logger   logr.Logger
}

// Keeper is a manager's Runnable that keeps the serving certificate.
type Keeper struct {
	settings Settings
	host     string
	objects  objects
	watches  []func(context.Context) (watch.Interface, error)
	files    *files // nil where the Keeper's own Secret is used
	clock    clock.Clock
	logger   logr.Logger
	server   *server
	settling settling
	failed   int // passes since the last one that didn't fail
	// changed holds one word that there is something to look at.
	changed chan struct{}
}

// New makes a Keeper, which does nothing before it is started.
func New(config *rest.Config, o Options) (*Keeper, error) {
	theirs := &apiserver.Clock{PassiveClock: o.Clock}
	client, err := kubernetes.NewForConfig(theirs.Listen(config))
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	a := &apiServer{client: client, namespace: o.Namespace, secretName: o.Secret, webhooksName: o.Webhooks}
	k := &Keeper{
		settings: o.Settings, host: o.Service + "." + o.Namespace + ".svc", objects: a,
		watches: []func(context.Context) (watch.Interface, error){a.watchConfiguration},
		clock:   o.Clock, logger: o.Logger.WithName("certificates"), server: &server{clock: theirs}, changed: make(chan struct{}, 1),
	}
	if o.Dir == "" {
		k.watches = append(k.watches, a.watchSecret)
	} else if k.files, err = watchFiles(o.Dir, k.wake); err != nil {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	return k, register(k.server)
}

// GetCertificate is for the tls.Config of the server.
func (k *Keeper) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return k.server.GetCertificate(hello)
}

// Check is for readiness: it fails while there is no certificate, and before the
// one that is served runs out.
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
		go k.follow(ctx, w)
	}
	if k.files != nil {
		go func() {
			if err := k.files.Start(ctx); err != nil {
				k.logger.Error(err, "the files of the serving certificate aren't watched any more")
			}
		}()
	}
	for ctx.Err() == nil {
		pause := k.settle(ctx)
		select {
		case <-ctx.Done():
		case <-k.changed:
		case <-k.clock.After(pause):
		}
	}
	return nil
}

// settle passes until nothing is left to do, and returns how long to pause if
// nothing changes.
func (k *Keeper) settle(ctx context.Context) time.Duration {
	for range mostWrites {
		wrote, err := k.pass(ctx)
		switch {
		case ctx.Err() != nil:
			return 0
		case raced(err):
			k.logger.V(1).Info("another replica was faster", "what", err.Error())
			return 200 * time.Millisecond
		case err != nil:
			k.failed++
			pause := min(30*time.Second, 250*time.Millisecond<<min(k.failed, 7))
			k.logger.Error(err, "the certificates can't be kept; it is tried again", "after", pause)
			return pause
		}
		k.failed = 0
		if !wrote {
			return k.pause()
		}
	}
	return time.Second
}

// mostWrites bounds what is written without a pause, should somebody undo it all the time.
const mostWrites = 8

// pause is how long nothing can become due: until trust has settled, a part of a
// certificate's life, and a minute at most, since clocks jump.
func (k *Keeper) pause() time.Duration {
	pause := min(time.Minute, max(k.settings.Life/20, 100*time.Millisecond))
	if left := k.settings.Settle - k.clock.Since(k.settling.since); left > 0 {
		pause = min(pause, left+10*time.Millisecond)
	}
	return pause
}

// wake makes a pass happen soon.
func (k *Keeper) wake() {
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// follow wakes the Keeper at every change that a watch tells of.
func (k *Keeper) follow(ctx context.Context, open func(context.Context) (watch.Interface, error)) {
	for ctx.Err() == nil {
		pause := time.Second
		if w, err := open(ctx); err != nil {
			k.logger.V(1).Info("a watch can't be opened; it is tried again", "why", err.Error())
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
