// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// account is etcd-webhook's user name at the API server.
const account = "system:serviceaccount:" + Namespace + ":" + Name

// TestRightsAreListed checks that the manifests grant exactly the listed permissions, which the
// tests use.
func TestRightsAreListed(t *testing.T) {
	if diff := cmp.Diff(lines(listedRights("")), lines(granted(t, "self-signed"))); diff != "" {
		t.Errorf("testdata/rights.txt differs from the permissions in the manifests (-listed +granted):\n%s", diff)
	}
}

// TestCertManagerGrantsLess checks that with cert-manager, etcd-webhook has no permission for
// Secrets and doesn't write its webhook configurations.
func TestCertManagerGrantsLess(t *testing.T) {
	want := slices.DeleteFunc(granted(t, "self-signed"), func(r right) bool {
		return r.resource == "secrets" || r.verb == "patch" && strings.HasPrefix(r.resource, "mutatingwebhookconfigurations.")
	})
	if diff := cmp.Diff(lines(want), lines(granted(t, "cert-manager"))); diff != "" {
		t.Errorf("permissions of overlays/cert-manager (-want +got):\n%s", diff)
	}
}

// granted returns the permissions that an overlay grants.
func granted(t *testing.T, overlay string) []right {
	t.Helper()
	objects, err := parse([]byte(kubectl(t, "kustomize", folder("overlays/"+overlay))))
	if err != nil {
		t.Fatal(err)
	}
	all, err := grantedRights(objects)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func lines(all []right) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.String())
	}
	slices.Sort(out)
	return out
}

// TestUsedRights parses an audit log of the API server.
func TestUsedRights(t *testing.T) {
	t.Parallel()
	const log = `{"verb":"watch","objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"code":200}}
{"verb":"update","objectRef":{"resource":"etcdtopologypolicies","apiGroup":"policy.kubectl-etcd.dev","subresource":"status"},"responseStatus":{"code":409}}
{"verb":"update","objectRef":{"resource":"secrets"},"responseStatus":{"code":403},"annotations":{"authorization.k8s.io/decision":"forbid"}}
{"verb":"create","objectRef":{"resource":"pods"},"responseStatus":{"code":403},"annotations":{"authorization.k8s.io/decision":"allow"}}
{"verb":"get","objectRef":{"resource":"secrets","namespace":"kubectl-etcd-system"},"responseStatus":{"code":200}}
{"verb":"get","objectRef":{"resource":"pods","namespace":"team-a"},"responseStatus":{"code":200}}
`
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	used, forbidden, err := auditedRights(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"get pods", "get secrets in its own namespace", "list pods", "update etcdtopologypolicies.policy.kubectl-etcd.dev/status", "watch pods"}
	if diff := cmp.Diff(want, lines(used)); diff != "" {
		t.Errorf("used permissions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"update secrets"}, lines(forbidden)); diff != "" {
		t.Errorf("forbidden requests (-want +got):\n%s", diff)
	}
}

// TestRightsOfTheAccount asks the API server for the permissions of the service account, in its
// own namespace and in another. The result omits the permissions of every account. UPDATE=1
// rewrites the golden files.
func TestRightsOfTheAccount(t *testing.T) {
	installed(t)
	for name, ns := range map[string]string{"own-namespace": Namespace, "other-namespaces": "default"} {
		t.Run(name, func(t *testing.T) {
			everyone := mayDo(t, "system:serviceaccount:default:unknown", ns)
			may := slices.DeleteFunc(mayDo(t, account, ns), func(line string) bool { return slices.Contains(everyone, line) })
			got := strings.Join(may, "\n") + "\n"
			file := filepath.Join("testdata", "may-"+name+".txt")
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("kubectl auth can-i --list (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAccountMayChangeOnlyTheBundle patches the configuration of the webhooks as etcd-webhook's
// account, as a user could who has stolen the token of a replica.
func TestAccountMayChangeOnlyTheBundle(t *testing.T) {
	installed(t)
	var config admissionregistrationv1.MutatingWebhookConfiguration
	if err := admin.Get(t.Context(), client.ObjectKey{Name: Name}, &config); err != nil {
		t.Fatal(err)
	}
	first := config.Webhooks[0]
	patch := func(operation string) error {
		_, err := admin.kubectl(t.Context(), nil, "patch", "mutatingwebhookconfiguration", Name, "--as", account, "--type", "json", "-p", "["+operation+"]")
		return err
	}
	for name, operation := range map[string]string{
		"the address": `{"op": "replace", "path": "/webhooks/0/clientConfig", "value": {"url": "https://example.com/"}}`,
		"the rules":   `{"op": "replace", "path": "/webhooks/0/rules/0/resources", "value": ["secrets"]}`,
		"a failure":   `{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}`,
		"the list":    `{"op": "remove", "path": "/webhooks/0"}`,
		"a label":     `{"op": "remove", "path": "/metadata/labels"}`,
		"a namespace": `{"op": "remove", "path": "/webhooks/0/namespaceSelector"}`,
		"an addition": `{"op": "add", "path": "/webhooks/-", "value": {"name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com/"}}}`,
	} {
		if err := patch(operation); err == nil || !strings.Contains(err.Error(), "etcd-webhook-bundle-only") {
			t.Errorf("%s: want a denial of the policy, got %v", name, err)
		}
	}
	same, err := json.Marshal(first.ClientConfig.CABundle)
	if err != nil {
		t.Fatal(err)
	}
	if err := patch(`{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": ` + string(same) + `}`); err != nil {
		t.Errorf("the caBundle: %v", err)
	}
}

// mayDo returns the sorted output of kubectl auth can-i --list for a service account.
func mayDo(t *testing.T, account, ns string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(kubectl(t, "auth", "can-i", "--list", "--no-headers", "--as", account, "-n", ns)) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	slices.Sort(out)
	return out
}

// TestNoRoleIsDangerous checks what no test of usage can check: no role of the overlays has a
// wildcard, or a verb that allows privilege escalation.
func TestNoRoleIsDangerous(t *testing.T) {
	installed(t)
	var roles rbacv1.RoleList
	var clusterRoles rbacv1.ClusterRoleList
	ours := client.MatchingLabels{"app.kubernetes.io/part-of": "kubectl-etcd"}
	for _, list := range []client.ObjectList{&roles, &clusterRoles} {
		if err := admin.List(t.Context(), list, ours); err != nil {
			t.Fatal(err)
		}
	}
	if len(roles.Items) == 0 || len(clusterRoles.Items) == 0 {
		t.Fatalf("found only %d Roles and %d ClusterRoles", len(roles.Items), len(clusterRoles.Items))
	}
	for _, r := range roles.Items {
		harmless(t, "Role "+r.Name, r.Rules)
	}
	for _, r := range clusterRoles.Items {
		harmless(t, "ClusterRole "+r.Name, r.Rules)
	}
}

func harmless(t *testing.T, role string, rules []rbacv1.PolicyRule) {
	t.Helper()
	for _, rule := range rules {
		for _, what := range slices.Concat(rule.Verbs, rule.APIGroups, rule.Resources, rule.NonResourceURLs) {
			switch what {
			case "*", "escalate", "bind", "impersonate", "approve", "sign", "deletecollection",
				"pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "nodes/proxy", "services/proxy", "pods/proxy",
				"serviceaccounts/token", "roles", "rolebindings", "clusterroles", "clusterrolebindings":
				t.Errorf("%s has %q: %v", role, what, rule)
			}
		}
		named := len(rule.ResourceNames) > 0
		does := func(resource string, verbs ...string) bool {
			return slices.Contains(rule.Resources, resource) && slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(rule.Verbs, v) })
		}
		if does("secrets", "list") || !named && does("secrets", "get", "watch", "update", "patch", "delete") {
			t.Errorf("%s has a rule for Secrets without resource names: %v", role, rule)
		}
		for _, config := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
			if does(config, "create", "delete") || !named && does(config, "get", "list", "watch", "update", "patch") {
				t.Errorf("%s has a rule for webhook configurations without resource names: %v", role, rule)
			}
		}
	}
}
