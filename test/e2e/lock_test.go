// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apiserver"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestLock checks that a cluster has one lock, who holds it, and when it ends. The lock is only
// a Lease, so no etcd runs here.
func TestLock(t *testing.T) {
	beside(t)
	ns := namespace(t)
	for name, test := range map[string]func(*testing.T, owner.Owner){
		"is released":                   lockReleased,
		"of a living holder is kept":    lockRenewed,
		"of a dead holder changes hand": lockExpired,
		"is lost when it is deleted":    lockDeleted,
		"is lost when another has it":   lockStolen,
		"survives another user's label": lockLabelled,
		"is lost without the server":    lockWithoutServer,
		"needs rights":                  lockWithoutRights,
		"is cleared where not deleted":  lockCleared,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := owner.Owner{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: ns, Name: strings.ReplaceAll(name, " ", "-")}
			owner.Name = strings.ReplaceAll(owner.Name, "'", "")
			test(t, owner)
		})
	}
}

func acquire(t *testing.T, kube client.Client, o owner.Owner, holder string) *lock.Lock {
	t.Helper()
	held, err := lock.Acquire(t.Context(), kube, o, lock.Claim{Operation: "scale", Holder: holder, Reason: "more room"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Release(context.WithoutCancel(t.Context())) })
	return held
}

func leaseOf(o owner.Owner) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: lock.Name(o)}}
}

func lockReleased(t *testing.T, o owner.Owner) {
	t.Helper()
	held := acquire(t, kube, o, "ann")
	lease := leaseOf(o)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil {
		t.Fatal(err)
	}
	if got := ptr.Deref(lease.Spec.HolderIdentity, ""); got != "ann" {
		t.Errorf("the lease's holder is %q, want ann", got)
	}
	retry(t, "the lock to be released", held.Release)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); !apierrors.IsNotFound(err) {
		t.Errorf("after the release the lease is still there: %v", err)
	}
	if err := held.StillHeld(); !errors.Is(err, lock.ErrReleased) {
		t.Errorf("after the release StillHeld returns %v", err)
	}
	bobs, err := lock.Acquire(t.Context(), kube, o, lock.Claim{
		Operation: "scale", Holder: "bob",
		Waiting: func(h lock.Holder, _ time.Duration) {
			t.Errorf("bob waits for %q, who released the lock", h.Identity)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = bobs.Release(context.WithoutCancel(t.Context())) // the test deletes the namespace
}

func lockRenewed(t *testing.T, o owner.Owner) {
	t.Helper()
	acquire(t, kube, o, "ann at desk (pid 1)")
	_, err := lock.Acquire(t.Context(), kube, o, lock.Claim{Operation: "defrag", Holder: "bob"})
	held, ok := errors.AsType[*lock.HeldError](err)
	if !ok {
		t.Fatalf("bob acquired a lock that ann renews: %v", err)
	}
	for _, want := range []string{"ann at desk (pid 1)", `"scale"`, "more room", "since 20", lock.Name(o)} {
		if !strings.Contains(held.Error(), want) {
			t.Errorf("the refusal lacks %q: %s", want, held)
		}
	}
}

// lockExpired has a holder with a wrong clock. The holder's last renewal is dated tomorrow.
func lockExpired(t *testing.T, o owner.Owner) {
	t.Helper()
	lease := leaseOf(o)
	tomorrow := metav1.NewMicroTime(time.Now().Add(24 * time.Hour))
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: new("cat"), RenewTime: &tomorrow, AcquireTime: &tomorrow, LeaseDurationSeconds: new(int32(15))}
	if err := kube.Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	watched := false
	began := time.Now()
	held, err := lock.Acquire(t.Context(), kube, o, lock.Claim{
		Operation: "scale", Holder: "ann",
		Waiting: func(h lock.Holder, _ time.Duration) { watched = h.Identity == "cat" },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Release(context.WithoutCancel(t.Context())) }()
	if took := time.Since(began); took < 15*time.Second {
		t.Errorf("the lock was taken over after %s, but its lease lasts 15s", took)
	}
	if !watched || held.Previous == nil || held.Previous.Identity != "cat" {
		t.Errorf("cat's lock is not reported: watched %v, took over %v", watched, held.Previous)
	}
	if err := held.StillHeld(); err != nil {
		t.Errorf("StillHeld of a lock that was just taken over: %v", err)
	}
}

func lockDeleted(t *testing.T, o owner.Owner) {
	t.Helper()
	loses(t, o, "deleted", func(lease *coordinationv1.Lease) error { return client.IgnoreNotFound(kube.Delete(t.Context(), lease)) })
}

func lockStolen(t *testing.T, o owner.Owner) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"holderIdentity":"mallory"}}`))
	held := loses(t, o, "mallory", func(lease *coordinationv1.Lease) error { return kube.Patch(t.Context(), lease, patch) })
	lease := leaseOf(o)
	_ = held.Release(t.Context())
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") != "mallory" {
		t.Errorf("the release touched another's lock: %v %v", lease.Spec.HolderIdentity, err)
	}
}

func lockLabelled(t *testing.T, o owner.Owner) {
	t.Helper()
	held := acquire(t, kube, o, "ann")
	lease := leaseOf(o)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"seen":"yes"}}}`))
	var renewed time.Time // the last renewal before the label; zero before the patch
	eventually(t, "two renewals after a user labelled the lease", func(ctx context.Context) (string, bool, error) {
		if err := held.StillHeld(); err != nil {
			if !clusters.Transient(err.Error()) {
				t.Fatal(err)
			}
			_ = kube.Delete(ctx, lease) // the API server was too slow for a renewal: try again
			held, renewed = acquire(t, kube, o, "ann"), time.Time{}
		}
		if renewed.IsZero() {
			if err := kube.Patch(ctx, lease, patch); err != nil {
				return "", false, err
			}
			renewed = lease.Spec.RenewTime.Time
		}
		err := kube.Get(ctx, client.ObjectKeyFromObject(lease), lease)
		return lease.Spec.RenewTime.String(), err == nil && lease.Spec.RenewTime.Sub(renewed) > 6*time.Second, err
	})
	retry(t, "the lock to be released", held.Release)
}

// loses acquires a lock, has another client take it, and checks that the holder notices this and
// reports why. If the API server was too slow to renew the lock, loses tries again.
func loses(t *testing.T, o owner.Owner, why string, take func(*coordinationv1.Lease) error) (held *lock.Lock) {
	t.Helper()
	eventually(t, "the lock to be lost: "+why, func(ctx context.Context) (string, bool, error) {
		_ = kube.Delete(ctx, leaseOf(o)) // the Lease of the previous attempt
		held = acquire(t, kube, o, "ann")
		if err := take(leaseOf(o)); err != nil {
			return "", false, err
		}
		select {
		case <-held.Context().Done():
		case <-ctx.Done():
			return "the holder doesn't notice it", false, nil
		}
		err := held.StillHeld()
		if err == nil || !strings.Contains(err.Error(), why) && !clusters.Transient(err.Error()) {
			t.Fatalf("the lock is lost with %v, want %q in the error", err, why)
		}
		return err.Error(), strings.Contains(err.Error(), why), nil
	})
	return held
}

// lockWithoutServer cuts the connection of this process. The Lease doesn't change.
func lockWithoutServer(t *testing.T, o owner.Owner) {
	t.Helper()
	down := &atomic.Bool{}
	shaky := kubeAs(t, func(c *rest.Config) {
		c.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return apiserver.RoundTripper(func(r *http.Request) (*http.Response, error) {
				if down.Load() {
					return nil, errors.New("the network is down")
				}
				return next.RoundTrip(r)
			})
		})
	})
	held := acquire(t, shaky, o, "ann")
	ran := stopwatch(t)
	down.Store(true)
	awaitLost(t, held, "the network is down")
	if took := ran(); took >= 15*time.Second {
		t.Errorf("the lock was lost after %s, when another client may have acquired it", took)
	}
}

func lockWithoutRights(t *testing.T, o owner.Owner) {
	t.Helper()
	poor := kubeAs(t, func(c *rest.Config) { c.Impersonate.UserName = "without-rights" })
	_, err := lock.Acquire(t.Context(), poor, o, lock.Claim{Operation: "scale", Holder: "ann"})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `cannot get resource "leases"`) {
		t.Errorf("a user without permissions gets the error %v", err)
	}
	missing, err := operate.Missing(t.Context(), poor, lock.Needs(o))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, n := range missing {
		lines = append(lines, n.Verb)
	}
	if got := strings.Join(lines, " "); got != "create get update delete" {
		t.Errorf("missing permissions %q, want create get update delete", got)
	}
	if missing, err = operate.Missing(t.Context(), kube, lock.Needs(o)); err != nil || len(missing) > 0 {
		t.Errorf("an administrator lacks %v (%v)", missing, err)
	}
}

// lockCleared has a user who may do everything with Leases except delete them.
func lockCleared(t *testing.T, o owner.Owner) {
	t.Helper()
	grant(t, o.Namespace, "keeps-leases", "coordination.k8s.io", "leases", "get", "create", "update")
	keeper := kubeAs(t, func(c *rest.Config) { c.Impersonate.UserName = "keeps-leases" })
	retry(t, "the lock to be released", acquire(t, keeper, o, "ann").Release)
	lease := leaseOf(o)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil {
		t.Fatal(err)
	}
	if h := ptr.Deref(lease.Spec.HolderIdentity, ""); h != "" {
		t.Errorf("a released lock still has holder %q", h)
	}
}

func awaitLost(t *testing.T, held *lock.Lock, why string) {
	t.Helper()
	select {
	case <-held.Context().Done():
	case <-time.After(limit):
		t.Fatalf("the holder doesn't notice within %s that the lock is lost", limit)
	}
	if err := held.StillHeld(); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("the lock is lost with %v, want %q in the error", err, why)
	}
}
