// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestMetrics collects metrics as Prometheus does. It causes real failures, and checks that the
// metrics show them and that the alerts fire.
func TestMetrics(t *testing.T) {
	installed(t)
	ns := namespace(t, "metrics")
	create(t, &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: v1alpha1.EtcdTopologyPolicySpec{
		NamespaceSelector: &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: v1alpha1.LabelValue(ns)}},
	}})
	c, err := clusters.Apply(t.Context(), bed, ns, "main", clusters.Spec{Flavour: clusters.Plain, Ephemeral: true, Annotations: map[string]string{
		v1alpha1.BackupLeaseAnnotation: "backups", v1alpha1.BackupMaxAgeAnnotation: "1h",
	}})
	if err != nil {
		t.Fatal(err)
	}
	backups := backedUp(t, ns)
	s := newScraper(t, ns)
	t.Run("who may", func(t *testing.T) { whoMay(t, s) })
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}

	of := func(name string, labels ...string) string {
		return seriesOf("kubectl_etcd_"+name, append(labels, "cluster", "main", "namespace", ns)...)
	}
	bare := s.await(t, map[string]float64{of("budget_unprotected", "reason", "NoBudget"): 1})
	kubectl(t, "patch", "etcdtopologypolicy", ns, "--type=merge", "-p", `{"spec":{"disruption":{"createMissing":true}}}`)
	well := s.await(t, map[string]float64{
		of("cluster_members_ready"):   3,
		of("cluster_members_desired"): 3,
		of("cluster_quorum"):          2,
		of("cluster_condition", "condition", "AllMembersReady", "status", "True"):      1,
		of("cluster_condition", "condition", "BackupReady", "status", "True"):          1,
		of("budget_min_available", "reason", "AllReady"):                               2,
		of("budget_evictions_left"):                                                    1,
		seriesOf("kubectl_etcd_policy_clusters", "policy", ns, "state", "Matched"):     1,
		seriesOf("kubectl_etcd_policy_clusters", "policy", ns, "state", "Unprotected"): 0,
	})

	before := backups.DeepCopy()
	backups.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-2 * time.Hour)}
	if err := admin.Patch(t.Context(), backups, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	// The controller checks the Lease once a minute, and when something else changes.
	kubectl(t, "annotate", "statefulset", "-n", ns, c.Full(), "seen=again")
	unwell := s.await(t, map[string]float64{
		of("cluster_condition", "condition", "BackupReady", "status", "False"): 1,
		of("budget_min_available", "reason", "BackupFailing"):                  3,
		of("budget_evictions_left"):                                            0,
	})
	if _, both := unwell[of("cluster_condition", "condition", "BackupReady", "status", "True")]; both {
		t.Error("the condition has two statuses at once")
	}

	kubectl(t, "patch", "service", "-n", ns, c.ClientService(), "--type=merge", "-p",
		fmt.Sprintf(`{"spec":{"selector":{%q:"%s%d"}}}`, v1alpha1.ClientTrafficKey, v1alpha1.ClientTrafficPrefix, time.Now().Add(time.Hour).Unix()))
	cordoned(t)
	kubectl(t, "delete", "pod", "-n", ns, c.Full()+"-2", "--wait=false")
	down := s.await(t, map[string]float64{
		of("cluster_members_ready"): 2,
		of("cluster_condition", "condition", "AllMembersReady", "status", "False"): 1,
	})
	kubectl(t, "patch", "etcdtopologypolicy", ns, "--type=merge", "-p", `{"spec":{"rollout":{"guard":"Enforce"}}}`)
	kubectl(t, "patch", "statefulset", "-n", ns, c.Full(), "--type=merge", "-p", `{"spec":{"template":{"metadata":{"annotations":{"seen":"again"}}}}}`)
	held := s.await(t, map[string]float64{of("rollout_held", "reason", "ClientTrafficCut"): 1})
	t.Run("every metric is there", func(t *testing.T) { everyMetric(t, bare, well, unwell, down, held) })
	t.Run("alerts", func(t *testing.T) { alertsOf(t, ns, well, unwell, down) })

	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the deleted cluster's series", func(ctx context.Context) (string, bool, error) {
		series, err := s.series(ctx)
		var left []string
		for name := range series {
			if strings.Contains(name, fmt.Sprintf("namespace=%q", ns)) {
				left = append(left, name)
			}
		}
		return strings.Join(left, " "), len(left) == 0, err
	})
}

// backedUp creates the Lease of backups and renews it.
func backedUp(t *testing.T, ns string) *coordinationv1.Lease {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "backups"}}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	create(t, lease)
	return lease
}

// cordoned cordons every node until the test ends.
func cordoned(t *testing.T) {
	t.Helper()
	nodes := strings.Fields(kubectl(t, "get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"))
	kubectl(t, append([]string{"cordon"}, nodes...)...)
	t.Cleanup(func() {
		if _, err := admin.kubectl(context.WithoutCancel(t.Context()), nil, append([]string{"uncordon"}, nodes...)...); err != nil {
			t.Error(err)
		}
	})
}

// whoMay checks that metrics require a token and the permission.
func whoMay(t *testing.T, s *scraper) {
	t.Helper()
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "without-rights"}})
	for token, want := range map[string]int{"": 401, "made-up": 401, tokenOf(t, s.namespace, "without-rights"): 403, s.token: 200} {
		eventually(t, fmt.Sprintf("code %d with a token of %d characters", want, len(token)), func(ctx context.Context) (string, bool, error) {
			answer, err := s.get(ctx, token)
			if err != nil {
				return "", false, err
			}
			_ = answer.Body.Close()
			return answer.Status, answer.StatusCode == want, nil
		})
	}
}

func tokenOf(t *testing.T, ns, account string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: account}}
	if err := admin.SubResource("token").Create(t.Context(), sa, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// scraper collects the metrics of the leader, and verifies its certificate.
type scraper struct {
	tunnel           *tunnel.Dialer
	namespace, token string
}

func newScraper(t *testing.T, ns string) *scraper {
	t.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "apply", "-f", folder("monitoring/role.yaml"))
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "prometheus"}})
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "etcd-webhook-metrics-reader"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "prometheus"}},
	})
	return &scraper{tunnel: tunnel.New(config), namespace: ns, token: tokenOf(t, ns, "prometheus")}
}

func (s *scraper) get(ctx context.Context, token string) (*http.Response, error) {
	var lease coordinationv1.Lease
	if err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: "etcd-webhook.kubectl-etcd.dev"}, &lease); err != nil {
		return nil, err
	}
	leader, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	var c admissionregistrationv1.MutatingWebhookConfiguration
	if err := admin.Get(ctx, client.ObjectKey{Name: Name}, &c); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.Webhooks[0].ClientConfig.CABundle)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return s.tunnel.Dial(ctx, Namespace, leader, 8443)
		},
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: true,
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+Name+"."+Namespace+".svc:8443/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return transport.RoundTrip(request)
}

// samples are the values of series. The key has the name and the labels in order.
type samples map[string]float64

func (s *scraper) series(ctx context.Context) (samples, error) {
	answer, err := s.get(ctx, s.token)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		texts, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("%s: %s", answer.Status, texts)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return nil, err
	}
	out := samples{}
	for _, f := range families {
		for _, m := range f.Metric {
			out.add(f.GetName(), m)
		}
	}
	return out, nil
}

func (s samples) add(name string, m *dto.Metric) {
	var labels []string
	for _, l := range m.Label {
		labels = append(labels, l.GetName(), l.GetValue())
	}
	if h := m.Histogram; h != nil {
		for _, b := range h.Bucket {
			s[seriesOf(name+"_bucket", append(slices.Clone(labels), "le", fmt.Sprint(b.GetUpperBound()))...)] = float64(b.GetCumulativeCount())
		}
		s[seriesOf(name+"_count", labels...)], s[seriesOf(name+"_sum", labels...)] = float64(h.GetSampleCount()), h.GetSampleSum()
		return
	}
	s[seriesOf(name, labels...)] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
}

// seriesOf returns the key of a series from its name, and its labels and values in turn.
func seriesOf(name string, labels ...string) string {
	var texts []string
	for i := 0; i+1 < len(labels); i += 2 {
		texts = append(texts, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	slices.Sort(texts)
	return name + "{" + strings.Join(texts, ",") + "}"
}

// await collects until the series have these values.
func (s *scraper) await(t *testing.T, want map[string]float64) samples {
	t.Helper()
	var got samples
	eventually(t, "metrics", func(ctx context.Context) (string, bool, error) {
		var err error
		if got, err = s.series(ctx); err != nil {
			return "", false, err
		}
		for name, value := range want {
			if v, there := got[name]; !there || v != value {
				return fmt.Sprintf("%s is %v (%v), want %v; of the cluster: %s", name, v, there, value, got.about(s.namespace)), false, nil
			}
		}
		return "", true, nil
	})
	return got
}

// about returns the samples of a namespace for messages.
func (s samples) about(ns string) string {
	var out []string
	for name, v := range s {
		if strings.Contains(name, ns) {
			out = append(out, fmt.Sprintf("%s %v", name, v))
		}
	}
	return strings.Join(out, "\n")
}
