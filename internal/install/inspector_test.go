// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/certtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/manifests"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// serverTime is the time of the API server in these tests.
var serverTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// apiServer answers paths with text or with a code, and 404 to all others.
type apiServer map[string]any

// ServeHTTP implements http.Handler.
func (a apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", serverTime.Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	switch answer := a[r.URL.Path].(type) {
	case nil:
		w.WriteHeader(http.StatusNotFound)
	case int:
		w.WriteHeader(answer)
	case http.HandlerFunc:
		answer(w, r)
	default:
		fmt.Fprint(w, answer)
	}
}

const (
	configurationsPath = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	validatingPath     = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	deploymentsPath    = "/apis/apps/v1/namespaces/kubectl-etcd-system/deployments"
	leasePath          = "/apis/coordination.k8s.io/v1/namespaces/kubectl-etcd-system/leases/etcd-webhook.kubectl-etcd.dev"
	reviewsPath        = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
)

// answering returns an API server with the webhooks of the manifests and a Deployment.
func answering(t *testing.T) apiServer {
	t.Helper()
	list, err := json.Marshal(admissionregistrationv1.MutatingWebhookConfigurationList{
		TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfigurationList"},
		Items:    []admissionregistrationv1.MutatingWebhookConfiguration{registered(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return apiServer{
		configurationsPath: string(list),
		validatingPath:     `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfigurationList","items":[]}`,
		deploymentsPath: `{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"etcd-webhook","namespace":"kubectl-etcd-system"},` +
			`"spec":{"template":{"spec":{"serviceAccountName":"renamed","containers":[{"image":"etcd-webhook:v1"}]}}}}]}`,
		leasePath: lease(serverTime),
		reviewsPath: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reviewed(w, r, func(authorizationv1.SubjectAccessReviewSpec) bool { return true })
		}),
	}
}

func lease(renewed time.Time) string {
	return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"x"},"spec":{"holderIdentity":"etcd-webhook-a_1","leaseDurationSeconds":6,"renewTime":%q}}`,
		renewed.Format("2006-01-02T15:04:05.000000Z"))
}

func reviewed(w http.ResponseWriter, r *http.Request, may func(authorizationv1.SubjectAccessReviewSpec) bool) {
	var review authorizationv1.SubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SubjectAccessReview"
	review.Status.Allowed = may(review.Spec)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review) // the client reports it
}

// registered returns the configuration of manifests/base.
func registered(t *testing.T) admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	var c admissionregistrationv1.MutatingWebhookConfiguration
	decodeManifest(t, "base/webhooks.yaml", &c)
	return c
}

// decodeManifest reads the first object of a file of the manifests.
func decodeManifest(t *testing.T, name string, into any) {
	t.Helper()
	text, err := manifests.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n---\n")
	if err := yaml.UnmarshalStrict([]byte(first), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// newInspector returns an inspector on a machine with the given time.
func newInspector(t *testing.T, a apiServer, local time.Time) *Inspector {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	inspector, err := NewInspector(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, clocktesting.NewFakeClock(local), "default", false)
	if err != nil {
		t.Fatal(err)
	}
	return inspector
}

func inspect(t *testing.T, a apiServer) (*v1alpha1.WebhookStatus, error) {
	t.Helper()
	return newInspector(t, a, serverTime).Inspect(t.Context())
}

// TestInspectContinues checks that a part without an answer is reported and doesn't stop the
// others. If the first request fails, it is an error.
func TestInspectContinues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ what, path, why string }{
		{"the API server's metrics", "/metrics", "the server"},
		{"events", "/api/v1/events", "the server"},
		{"services", "/api/v1/services", "the server"},
		{unseenLease, leasePath, "the server"},
		{"permissions of etcd-webhook", reviewsPath, "the server"},
		{unseenDeployments, deploymentsPath, "the server"},
	} {
		for _, code := range []int{http.StatusMethodNotAllowed, http.StatusServiceUnavailable, http.StatusForbidden} {
			t.Run(fmt.Sprintf("%s %d", row.what, code), func(t *testing.T) {
				t.Parallel()
				a := answering(t)
				a[row.path] = code
				st, err := inspect(t, a)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(st.Unseen, func(u v1alpha1.Unseen) bool { return u.What == row.what && u.Why != "" }) || len(st.Webhooks) != len(entries.All()) {
					t.Errorf("unseen: %+v, %d webhooks", st.Unseen, len(st.Webhooks))
				}
			})
		}
	}
	a := answering(t)
	a[configurationsPath] = http.StatusServiceUnavailable
	if st, err := inspect(t, a); err == nil {
		t.Errorf("without an answer, the status is %+v", st)
	}
}

// TestServerClock checks that lease and certificate are judged by the API server's time.
func TestServerClock(t *testing.T) {
	t.Parallel()
	inspector := newInspector(t, answering(t), serverTime.AddDate(-1, 0, 0))
	st, err := inspector.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !st.Time.Time.Equal(serverTime) || st.Program.Leader != "etcd-webhook-a" {
		t.Errorf("the time is %s and the leader %q", st.Time, st.Program.Leader)
	}
	const host = "etcd-webhook.kubectl-etcd-system.svc"
	shown := certtest.Make(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: serverTime.Add(-time.Hour), NotAfter: serverTime.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}, nil)
	for i := range inspector.webhooks {
		inspector.webhooks[i].client.CABundle = shown.CertPEM
	}
	if c := inspector.certificate([]*x509.Certificate{shown.Cert}); len(c.Distrusted) > 0 {
		t.Errorf("the API server trusts the certificate, and the result is %q", c.Distrusted)
	}
}

// TestReadLeader checks that a replica that renews the lease is the leader, even if the clock of
// its node is wrong.
func TestReadLeader(t *testing.T) {
	t.Parallel()
	old := serverTime.Add(-10 * time.Minute)
	var reads atomic.Int32
	slow := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, lease(old.Add(time.Duration(reads.Add(1))*time.Second)))
	})
	for name, row := range map[string]struct {
		lease  any
		leader string
		since  *time.Time
	}{
		"renewed":                   {lease(serverTime.Add(-time.Second)), "etcd-webhook-a", nil},
		"renewed with a slow clock": {slow, "etcd-webhook-a", nil},
		"not renewed":               {lease(old), "", &old},
		"released":                  {strings.Replace(lease(old), "etcd-webhook-a_1", "", 1), "", &old},
		"none, and no replica":      {nil, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answering(t)
			a[leasePath] = row.lease
			inspector := newInspector(t, a, serverTime)
			local := inspector.clock.(*clocktesting.FakeClock)
			var err error
			inspector.st.Program.Namespace = "kubectl-etcd-system"
			done := make(chan error, 1)
			go func() { done <- inspector.readLeader(t.Context()) }()
			for waiting := true; waiting; {
				select {
				case err = <-done:
					waiting = false
				case <-time.After(time.Millisecond):
					if local.HasWaiters() {
						local.Step(6 * time.Second)
					}
				}
			}
			p := inspector.st.Program
			if err != nil || p.Leader != row.leader || (p.LeaderlessSince == nil) != (row.since == nil) || row.since != nil && !p.LeaderlessSince.Time.Equal(*row.since) {
				t.Errorf("leader %q, none since %v, %v", p.Leader, p.LeaderlessSince, err)
			}
		})
	}
}

// TestNamespaceOfTrial checks that the dry run uses a namespace in which the user may create
// pods, even if a policy only governs a cluster in another namespace.
func TestNamespaceOfTrial(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		a := answering(t)
		a["/api/v1/namespaces"] = `{"apiVersion":"v1","kind":"NamespaceList","items":[{"metadata":{"name":"default"}},{"metadata":{"name":"other"}}]}`
		a["/apis/policy.kubectl-etcd.dev/v1alpha1/etcdtopologypolicies"] = `{"apiVersion":"policy.kubectl-etcd.dev/v1alpha1","kind":"EtcdTopologyPolicyList","items":[{"metadata":{"name":"all"},"spec":{"mode":"Enforce"}}]}`
		const set = `{"metadata":{"name":"main","namespace":"other","uid":"1"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"main"}},"template":{"metadata":{"labels":{"app":"main"}},"spec":{"containers":[{"name":"etcd","command":["etcd"]}]}}}}`
		a["/apis/apps/v1/statefulsets"] = `{"apiVersion":"apps/v1","kind":"StatefulSetList","items":[` + set + `]}`
		a["/apis/apps/v1/namespaces/other/statefulsets/main"] = strings.Replace(set, "{", `{"apiVersion":"apps/v1","kind":"StatefulSet",`, 1)
		a["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","status":{"allowed":%t}}`, allowed)
		})
		st, err := inspect(t, a)
		if err != nil {
			t.Fatal(err)
		}
		want := "create pod sample-webhook-status in namespace default, "
		if allowed {
			want = "create pod main-0-webhook-status in namespace other, "
		}
		if !strings.HasPrefix(st.Admission.Asked, want) {
			t.Errorf("allowed %t: the dry run is %q, want %q", allowed, st.Admission.Asked, want)
		}
	}
}

// TestMissingRights checks that the permissions of the program's ServiceAccount are reviewed.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	a := answering(t)
	a[reviewsPath] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reviewed(w, r, func(spec authorizationv1.SubjectAccessReviewSpec) bool {
			return spec.User == "system:serviceaccount:kubectl-etcd-system:renamed" && slices.Contains(spec.Groups, "system:serviceaccounts:kubectl-etcd-system") &&
				spec.ResourceAttributes.Resource != "poddisruptionbudgets"
		})
	})
	st, err := inspect(t, a)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`verb "patch" on "poddisruptionbudgets.policy" in the whole cluster`}
	if diff := cmp.Diff(want, st.Program.MissingRights); diff != "" {
		t.Error(diff)
	}
}

// TestKeyRightsAreGranted checks that the manifests grant the permissions.
func TestKeyRightsAreGranted(t *testing.T) {
	t.Parallel()
	var everywhere rbacv1.ClusterRole
	var election rbacv1.Role
	decodeManifest(t, path.Join("base", "cluster-role.yaml"), &everywhere)
	decodeManifest(t, path.Join("base", "leader-election-role.yaml"), &election)
	for _, right := range KeyRights(webhookSpace) {
		rules := everywhere.Rules
		if right.Namespace != "" {
			rules = election.Rules
		}
		if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return grants(r, right) }) {
			t.Errorf("no role of the manifests has %s", right)
		}
	}
}

func grants(r rbacv1.PolicyRule, right operate.Need) bool {
	return slices.Contains(r.Verbs, right.Verb) && slices.Contains(r.APIGroups, right.Group) && slices.Contains(r.Resources, right.Resource) &&
		(right.Name == "" || len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, right.Name))
}

// TestWebhookScope checks that the scope of a webhook is read.
func TestWebhookScope(t *testing.T) {
	t.Parallel()
	st, err := inspect(t, answering(t))
	if err != nil {
		t.Fatal(err)
	}
	if w := st.Webhooks[0]; w.ObjectSelector != "statefulset.kubernetes.io/pod-name" || !slices.Equal(w.MatchConditions, []string{"controlled", "may-run-etcd"}) {
		t.Errorf("the scope of %s: %q, %q", w.Name, w.ObjectSelector, w.MatchConditions)
	}
}
