// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// TestStatus compares the output for installations in many states, on a narrow and on a wide
// terminal, with golden files.
func TestStatus(t *testing.T) {
	t.Parallel()
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, columns := range []int{80, 200} {
				st := installed()
				change(st)
				install.JudgeWebhook(st)
				a := app.New(genericiooptions.IOStreams{})
				screen := &ui.Screen{Columns: columns}
				if err := render.Webhook(a.Console, st)(screen, false); err != nil {
					t.Fatal(err)
				}
				exit := "exit code 0\n"
				if err := healthError(st); err != nil {
					code, label := app.Outcome(t.Context(), err)
					exit = fmt.Sprintf("exit code %d\n%s: %v\n", code, label, err)
				}
				scripttest.CompareGolden(t, filepath.Join("testdata", "webhook", fmt.Sprintf("%s.%d.txt", name, columns)), screen.String()+exit)
				for line := range strings.Lines(screen.String()) {
					if n := len([]rune(strings.TrimRight(line, "\n"))); n > columns {
						t.Errorf("the line has %d columns on a terminal of %d: %q", n, columns, line)
					}
				}
			}
		})
	}
}

var cases = map[string]func(*v1alpha1.WebhookStatus){
	"works": func(*v1alpha1.WebhookStatus) {},
	"not-installed": func(st *v1alpha1.WebhookStatus) {
		*st = v1alpha1.WebhookStatus{Time: metav1.NewTime(noon), PluginVersion: "v1.2.3"}
	},
	"no-replica": func(st *v1alpha1.WebhookStatus) {
		st.Program.Ready, st.Program.Desired, st.Program.Leader, st.Program.Replicas = 0, 0, "", nil
		st.Admission = v1alpha1.AdmissionTrial{Asked: st.Admission.Asked, Milliseconds: 12}
		st.Webhooks[0].Calls = &v1alpha1.WebhookCalls{Total: 120, Errors: 20, FailedOpen: 20, MeanMilliseconds: 4.5}
	},
	"wrong-authority": func(st *v1alpha1.WebhookStatus) {
		for i := range st.Program.Replicas {
			st.Program.Replicas[i].Certificate.Distrusted = []string{"pods, services: no authority in the caBundle issued it (its issuer is CN=etcd-webhook)"}
		}
		st.Admission = v1alpha1.AdmissionTrial{Asked: st.Admission.Asked, Milliseconds: 15}
	},
	"one-replica": func(st *v1alpha1.WebhookStatus) {
		st.Program.Ready = 1
		st.Program.Replicas[1] = v1alpha1.WebhookReplica{Pod: "etcd-webhook-6d4f-b", LastExit: "ImagePullBackOff: not found", Silence: "it is not running"}
	},
	"certificate-ending": func(st *v1alpha1.WebhookStatus) {
		st.Program.Ready, st.Admission = 0, v1alpha1.AdmissionTrial{Asked: st.Admission.Asked, Milliseconds: 12}
		for i := range st.Program.Replicas {
			r := &st.Program.Replicas[i]
			r.Ready, r.Certificate.NotAfter = false, metav1.NewTime(noon.Add(40*time.Minute))
		}
		gone := st.Program.Replicas[1].Certificate
		gone.NotAfter = metav1.NewTime(noon.Add(-5 * time.Minute))
		gone.Distrusted = []string{"pods, services: certificate has expired or is not yet valid"}
	},
	"passed-by": func(st *v1alpha1.WebhookStatus) {
		st.Admission.Outcome, st.Admission.Reason, st.Admission.Policy, st.Admission.Added = "Ignored", "NotEtcd", "", nil
	},
	"nothing-to-add": func(st *v1alpha1.WebhookStatus) {
		st.Admission.Outcome, st.Admission.Reason, st.Admission.Added = "Unchanged", "NothingToDo", nil
	},
	"no-policy": func(st *v1alpha1.WebhookStatus) {
		st.Policies = nil
		st.Admission = v1alpha1.AdmissionTrial{
			Asked:    "create pod sample-webhook-status in namespace default, of no cluster, because no policy governs a cluster that you may see",
			Answered: true, Replica: "etcd-webhook-6d4f-a", Outcome: "Ignored", Reason: "NotEtcd", Milliseconds: 9,
		}
	},
	"no-rights": func(st *v1alpha1.WebhookStatus) {
		*st = v1alpha1.WebhookStatus{Time: metav1.NewTime(noon), PluginVersion: "v1.2.3", Unseen: []v1alpha1.Unseen{
			{What: install.UnseenWebhooks, Why: "mutatingwebhookconfigurations is forbidden"}, {What: "deployments", Why: "deployments is forbidden"},
			{What: "etcdtopologypolicies", Why: "etcdtopologypolicies is forbidden"},
		}}
		st.Admission.Error = `pods is forbidden: User "eve" cannot create resource "pods"`
	},
	"no-entry-for-pods": func(st *v1alpha1.WebhookStatus) {
		st.Webhooks = st.Webhooks[1:4]
		st.Admission = v1alpha1.AdmissionTrial{Error: "no webhook for pods is registered"}
	},
	"no-entry-for-services": func(st *v1alpha1.WebhookStatus) { st.Webhooks = slices.Delete(st.Webhooks, 3, 4) },
	"no-leader": func(st *v1alpha1.WebhookStatus) {
		st.Program.Leader, st.Program.Replicas[0].Leader = "", false
		st.Program.LeaderlessSince = &metav1.Time{Time: noon.Add(-2 * time.Minute)}
	},
	"leader-to-be": func(st *v1alpha1.WebhookStatus) {
		st.Program.Leader, st.Program.Replicas[0].Leader = "", false
		st.Program.LeaderlessSince = &metav1.Time{Time: noon.Add(-install.FailoverLimit + time.Second)}
	},
	"lost-its-rights": func(st *v1alpha1.WebhookStatus) {
		st.Program.MissingRights = []string{install.KeyRights("kubectl-etcd-system")[0].String(), install.KeyRights("kubectl-etcd-system")[3].String()}
	},
	"overdue": func(st *v1alpha1.WebhookStatus) {
		st.Cuts = []v1alpha1.WebhookCut{{Namespace: "team-a", Service: "etcd-main-client", Until: &metav1.Time{Time: noon.Add(-5 * time.Minute)}}}
		st.Policies[0].Conflict = "policy other has the same priority 0 and selects 2 of the same clusters"
		st.Program.Replicas[0].Certificate.NotAfter = metav1.NewTime(noon.Add(10 * time.Minute))
		st.Program.Leader, st.Program.Replicas[0].Leader = "", false
		st.Program.Replicas[1].Node = st.Program.Replicas[0].Node
		st.Webhooks[0].FailurePolicy = "Fail"
		st.Events = []v1alpha1.WarningEvent{{Last: metav1.NewTime(noon.Add(-time.Minute)), Count: 3, Object: "etcd/etcd-main in team-a", Reason: "BudgetWriteDenied", Message: "the budget can't be written"}}
	},
}

// installed returns a webhook without problems.
func installed() *v1alpha1.WebhookStatus {
	certificate := func() *v1alpha1.ServingCertificate {
		return &v1alpha1.ServingCertificate{
			Names: []string{"etcd-webhook.kubectl-etcd-system.svc"}, Issuer: "CN=etcd-webhook",
			NotBefore: metav1.NewTime(noon.Add(-time.Hour)), NotAfter: metav1.NewTime(noon.Add(89 * 24 * time.Hour)),
		}
	}
	st := &v1alpha1.WebhookStatus{
		Time: metav1.NewTime(noon), PluginVersion: "v1.2.3",
		Program: v1alpha1.WebhookProgram{
			Namespace: "kubectl-etcd-system", Deployment: "etcd-webhook", Image: "ghcr.io/kubectl-etcd/etcd-webhook:v1.2.3", Version: "v1.2.3",
			Ready: 2, Desired: 2, Leader: "etcd-webhook-6d4f-a",
			Replicas: []v1alpha1.WebhookReplica{
				{Pod: "etcd-webhook-6d4f-a", Node: "node-1", Zone: "zone-a", Ready: true, Leader: true, Certificate: certificate()},
				{Pod: "etcd-webhook-6d4f-b", Node: "node-2", Zone: "zone-b", Ready: true, Restarts: 1, LastExit: "2026-11-19T08:00:00Z, exit code 137 (OOMKilled)", Certificate: certificate()},
			},
		},
		Admission: v1alpha1.AdmissionTrial{
			Asked:      "create pod etcd-main-webhook-status in namespace team-a, like a member of Etcd team-a/etcd-main, which policy default governs",
			GovernedBy: "default", Answered: true, Replica: "etcd-webhook-6d4f-b", Outcome: "Patched", Reason: "Spread", Policy: "default", Milliseconds: 21,
			Added: []string{"different nodes (required)", "different zones (required)"},
		},
		Policies: []v1alpha1.WebhookPolicy{{Name: "default", Mode: "Enforce", Matched: 12, Broken: 1}},
	}
	for _, handler := range entries.Handlers {
		for _, e := range handler.Entries {
			st.Webhooks = append(st.Webhooks, v1alpha1.InstalledWebhook{
				Name: e.Name + entries.Suffix, Configuration: "mutatingwebhookconfiguration/etcd-webhook", Resources: []string{e.Resource + ":" + string(e.Operations[0])},
				FailurePolicy: "Ignore", TimeoutSecs: 3, ExcludedNamespaces: []string{"kube-system", "kubectl-etcd-system"},
				AuthorityExpiry: &metav1.Time{Time: noon.Add(10 * 365 * 24 * time.Hour)},
			})
		}
	}
	return st
}

// TestReadCalls reads the metrics of an API server.
func TestReadCalls(t *testing.T) {
	t.Parallel()
	const metrics = `# TYPE apiserver_admission_webhook_fail_open_count counter
apiserver_admission_webhook_fail_open_count{name="pods.etcd-webhook.kubectl-etcd.dev",type="admit"} 3
apiserver_admission_webhook_fail_open_count{name="another.example.com",type="admit"} 99
# TYPE apiserver_admission_webhook_request_total counter
apiserver_admission_webhook_request_total{code="200",name="pods.etcd-webhook.kubectl-etcd.dev",operation="CREATE",rejected="false",type="admit"} 40
apiserver_admission_webhook_request_total{code="600",name="pods.etcd-webhook.kubectl-etcd.dev",operation="CREATE",rejected="true",type="admit"} 3
# TYPE apiserver_admission_webhook_admission_duration_seconds histogram
apiserver_admission_webhook_admission_duration_seconds_bucket{name="pods.etcd-webhook.kubectl-etcd.dev",operation="CREATE",rejected="false",type="admit",le="+Inf"} 40
apiserver_admission_webhook_admission_duration_seconds_sum{name="pods.etcd-webhook.kubectl-etcd.dev",operation="CREATE",rejected="false",type="admit"} 0.2
apiserver_admission_webhook_admission_duration_seconds_count{name="pods.etcd-webhook.kubectl-etcd.dev",operation="CREATE",rejected="false",type="admit"} 40
# TYPE other counter
other{le="x"} 1
`
	got, err := install.ReadCalls(strings.NewReader(metrics))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]v1alpha1.WebhookCalls{"pods.etcd-webhook.kubectl-etcd.dev": {Total: 43, Errors: 3, FailedOpen: 3, MeanMilliseconds: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
