// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginReach finds, connects to and surveys members of every layout and version of etcd. It
// uses only the facts in their pods and the cluster's Secrets.
func TestPluginReach(t *testing.T) {
	beside(t)
	ns := namespace(t)
	like := func(p clusters.Product) clusters.PlainSpec { return clusters.PlainSpec{Like: p} }
	rows := []reached{
		{name: "kamaji", spec: clusters.Spec{Plain: like(clusters.Kamaji)}, auth: true, version: "3.7."},
		{name: "karmada", spec: clusters.Spec{Plain: like(clusters.Karmada), Version: "3.5"}, version: "3.5.", member: "etcd0"},
		{name: "vcluster", spec: clusters.Spec{Plain: like(clusters.VCluster), Version: "3.6"}, version: "3.6."},
		{name: "file", spec: clusters.Spec{Plain: like(clusters.ConfigFile)}, version: "3.7.", unscaled: "from config file /etc/etcd/etcd.yaml, and ignores flags and variables"},
		{name: "file-tls", spec: clusters.Spec{Plain: like(clusters.ConfigFile), TLS: true, Version: "3.6"}, version: "3.6."},
		{name: "docs", spec: clusters.Spec{Plain: like(clusters.Docs), Version: "3.5"}, version: "3.5."},
		{name: "docs-tls", spec: clusters.Spec{Plain: like(clusters.Docs), TLS: true}, version: "3.7."},
		{name: "old", spec: clusters.Spec{Version: "3.4"}, version: "3.4."},
		{name: "old-tls", spec: clusters.Spec{Version: "3.4", TLS: true}, version: "3.4."},
		{name: "shell-tls", spec: clusters.Spec{Plain: clusters.PlainSpec{Shell: true}, TLS: true, Version: "3.6"}, version: "3.6."},
		{name: "chart", spec: clusters.Spec{Flavour: clusters.Bitnami, Bitnami: clusters.BitnamiSpec{Auth: true}}, auth: true, version: "3.7."},
		{name: "chart-tls", spec: clusters.Spec{Flavour: clusters.Bitnami, Bitnami: clusters.BitnamiSpec{Auth: true}, TLS: true, Version: "3.5"}, auth: true, version: "3.5."},
		{
			name: "druid-tls", version: "3.5.", member: "blue-druid-tls-0",
			spec: clusters.Spec{Flavour: clusters.Druid, TLS: true, Druid: clusters.DruidSpec{NoBackups: true, MemberNamePrefix: "blue"}},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			enter(t, 1)
			row.begin(t, ns)
			row.ready(t)
			var survey etcd.Survey
			eventually(t, "a survey", func(context.Context) (string, bool, error) {
				var err error
				survey, err = surveyAs(t, row.cluster, access.Credentials{}, nil)
				printed := printedBy(survey, err)
				return printed, printed == "", nil
			})
			m, listed := survey.Members[0], survey.List[0]
			want := row.member
			if want == "" {
				want = m.Pod
			}
			if len(survey.List) != 1 || listed.ID != m.ID || listed.Pod != m.Pod || listed.Name != want {
				t.Errorf("member %+v is listed as %+v, want it as %s", m, survey.List, want)
			}
			if !strings.HasPrefix(m.Version, row.version) || m.Quota == 0 || m.CertificateExpiry.IsZero() == row.cluster.TLS {
				t.Errorf("member %+v, want version %s, a quota, and an end of its certificate: %t", m, row.version, row.cluster.TLS)
			}
			if row.unscaled != "" {
				refuses(t, []string{"refused: ", row.unscaled}, "scale", target(row.cluster), "--replicas", "3", "-n", ns, "-y")
			}
			deleteAll(t, row.cluster)
		})
	}
}

// TestPluginReachRefused checks that every problem is reported with a fix. The plugin doesn't
// trust a member that can't prove its identity.
func TestPluginReachRefused(t *testing.T) {
	operating(t, 6)
	ns := namespace(t)
	rows := []reached{
		{name: "good", spec: clusters.Spec{TLS: true}},
		{name: "elsewhere", spec: clusters.Spec{TLS: true, Certificate: clusters.CertificateSpec{Names: []string{"localhost", "etcd.example.com"}}}},
		{name: "expired", spec: clusters.Spec{TLS: true, Certificate: clusters.CertificateSpec{Expired: true}}},
		{name: "serving", spec: clusters.Spec{TLS: true, Certificate: clusters.CertificateSpec{ServingOnly: true}}},
		{name: "locked", spec: clusters.Spec{}, auth: true},
	}
	for i := range rows {
		rows[i].begin(t, ns)
	}
	for _, row := range rows {
		row.ready(t)
	}
	good, elsewhere, expired, serving, locked := rows[0].cluster, rows[1].cluster, rows[2].cluster, rows[3].cluster, rows[4].cluster
	viewer := viewerOf(t, ns)
	foreigner := secretData(t, ns, "elsewhere-server-tls")["ca.crt"]
	for _, refused := range []struct {
		name   string
		of     *clusters.Cluster
		before func(t *testing.T)
		given  access.Credentials
		as     *rest.Config
		want   []string // empty if the survey succeeds
	}{
		{name: "nothing is wrong", of: good},
		{name: "another authority", of: good, given: access.Credentials{CACert: foreigner}, want: []string{`is signed by "CN=good-ca"`, "--cacert"}},
		{name: "another name", of: good, given: access.Credentials{ServerName: "etcd.example.com"}, want: []string{"the accepted names are etcd.example.com"}},
		{name: "no right to its Secret", of: good, as: viewer, want: []string{`secrets "good-server-tls" is forbidden`, `cannot get resource "secrets"`, "without that permission, set", "--cacert"}},
		{name: "no right to the user's Secret", of: good, as: viewer, given: access.Credentials{ClientSecret: "good-client-tls"}, want: []string{`secrets "good-client-tls" is forbidden`, "--cacert"}},
		{
			name: "all is given", of: good, as: viewer,
			given: access.Credentials{CACert: secretData(t, ns, "good-client-tls")["ca.crt"], Cert: secretData(t, ns, "good-client-tls")["tls.crt"], Key: secretData(t, ns, "good-client-tls")["tls.key"]},
		},
		{
			name: "its Secret is gone", of: good, before: func(t *testing.T) { t.Helper(); removeSecret(t, ns, "good-server-tls") },
			want: []string{"Secret " + ns + "/good-server-tls does not exist", "--cacert"},
		},
		{name: "a certificate for others", of: elsewhere, want: []string{"it is for localhost, etcd.example.com", "the accepted names are elsewhere-0.elsewhere." + ns, "--server-name"}},
		{name: "a certificate for others, by its name", of: elsewhere, given: access.Credentials{ServerName: "etcd.example.com"}},
		{name: "expired", of: expired, want: []string{`"CN=etcd-server" is valid from`}},
		{
			name: "no client's certificate", of: serving, before: func(t *testing.T) { t.Helper(); removeSecret(t, ns, "serving-client-tls") },
			want: []string{"demands a client certificate, and none was found", "is only valid for servers", "--client-secret"},
		},
		{name: "no password", of: locked, want: []string{"authentication is enabled", "--user-secret"}},
		{name: "a wrong password", of: locked, given: access.Credentials{User: "root:wrong"}, want: []string{`password of user "root"`}},
		{name: "the right password", of: locked, given: access.Credentials{User: "root:" + locked.RootPassword()}},
	} {
		// The cases run one after the other, because some delete what others need.
		t.Run(refused.name, func(t *testing.T) {
			if refused.before != nil {
				refused.before(t)
			}
			eventually(t, fmt.Sprintf("%q to be printed", refused.want), func(context.Context) (string, bool, error) {
				s, err := surveyAs(t, refused.of, refused.given, refused.as)
				printed := printedBy(s, err)
				return printed, len(refused.want) == 0 && printed == "" || len(refused.want) > 0 && lacking(printed, refused.want) == "", nil
			})
		})
	}
	t.Run("a listener by its name", func(t *testing.T) { byItsName(t, elsewhere) })
}

// byItsName checks that a listener that passes TLS through is printed with a name from the
// member's certificate. etcdctl accepts no other name.
func byItsName(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	args := []string{"proxy", "--tls-passthrough", "--server-name", "etcd.example.com", c.Full(), "-n", c.Namespace}
	prints(t, 0, []string{"https://localhost:", "is healthy"}, append(args, "--", "sh", "-c", "etcdctl endpoint health "+clientFiles(t, c))...)
}

// reached is a cluster of one member and the expected result of its survey.
type reached struct {
	name            string
	spec            clusters.Spec
	auth            bool
	version, member string
	// unscaled is the reason why the plugin refuses to scale the cluster. If it is empty, the
	// test doesn't try.
	unscaled string
	cluster  *clusters.Cluster
}

func (r *reached) begin(t *testing.T, ns string) {
	t.Helper()
	r.spec.Size = 1
	if r.spec.Flavour == "" {
		r.spec.Flavour = clusters.Plain
	}
	r.spec.Ephemeral = r.spec.Flavour != clusters.Druid
	c, err := clusters.Apply(t.Context(), bed, ns, r.name, r.spec)
	if err != nil {
		t.Fatal(err)
	}
	r.cluster = c
}

func (r *reached) ready(t *testing.T) {
	t.Helper()
	if err := r.cluster.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !r.auth {
		return
	}
	if err := r.cluster.EnableAuth(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// surveyAs surveys a cluster's members as an administrator or as another user.
func surveyAs(t *testing.T, c *clusters.Cluster, given access.Credentials, as *rest.Config) (etcd.Survey, error) {
	t.Helper()
	if as == nil {
		as = adminConfig(t)
	}
	set, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owner, ok, err := readerAs(t, adminConfig(t)).OwnerOfStatefulSet(t.Context(), set)
	if err != nil || !ok {
		t.Fatalf("owner of StatefulSet %s: %t, %v", set.Name, ok, err)
	}
	endpoints, err := access.Endpoints(t.Context(), readerAs(t, as), owner, given)
	if err != nil {
		return etcd.Survey{}, err
	}
	members := &etcd.Cluster{Tunnel: tunnel.New(as), Endpoints: endpoints}
	defer members.Close()
	return members.Survey(t.Context())
}

// printedBy returns all errors of a survey, or an empty string.
func printedBy(s etcd.Survey, err error) string {
	var printed []string
	add := func(err error) {
		if err != nil {
			printed = append(printed, err.Error())
		}
	}
	add(err)
	add(s.ListErr)
	for _, m := range s.Members {
		add(m.Err)
	}
	return strings.Join(printed, "; ")
}

func adminConfig(t *testing.T) *rest.Config {
	t.Helper()
	c, err := bed.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readerAs(t *testing.T, config *rest.Config) *observe.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &observe.Reader{Reader: c}
}

// viewerOf returns the configuration of a user with all permissions in the namespace that the
// plugin needs, except to read Secrets.
func viewerOf(t *testing.T, ns string) *rest.Config {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "viewer"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"pods", "services", "configmaps"}, Verbs: []string{"get", "list"}},
			{APIGroups: []string{""}, Resources: []string{"pods/portforward"}, Verbs: []string{"get", "create"}},
			{APIGroups: []string{"apps"}, Resources: []string{"statefulsets"}, Verbs: []string{"get", "list"}},
		},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "viewer-of-" + ns}},
	}
	for _, o := range []client.Object{role, binding} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	as := rest.CopyConfig(adminConfig(t))
	as.Impersonate.UserName = binding.Subjects[0].Name
	return as
}

func secretData(t *testing.T, ns, name string) map[string][]byte {
	t.Helper()
	var s corev1.Secret
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &s); err != nil {
		t.Fatal(err)
	}
	return s.Data
}

func removeSecret(t *testing.T, ns, name string) {
	t.Helper()
	if err := kube.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}); err != nil {
		t.Fatal(err)
	}
}
