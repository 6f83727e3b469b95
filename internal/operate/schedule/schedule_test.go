// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const name = "etcd-backup-main"

// stage is the StatefulSet team/main in an API server in memory.
type stage struct {
	*apitest.Server

	job *Job
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Server: apitest.New(t)}
	to, err := blob.ParseFolder("s3://backups/team?endpoint=https://minio:9000")
	if err != nil {
		t.Fatal(err)
	}
	s.Put(operatetest.Path("StatefulSet", "main"), apitest.Object{
		"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": apitest.Object{"namespace": "team", "name": "main", "uid": "sts"},
		"spec": apitest.Object{"template": apitest.Object{"spec": apitest.Object{
			"volumes": []any{
				apitest.Object{"name": "a", "secret": apitest.Object{"secretName": "client-tls"}},
				apitest.Object{"name": "b", "projected": apitest.Object{"sources": []any{apitest.Object{"configMap": apitest.Object{"name": "scripts"}}, apitest.Object{"secret": apitest.Object{"name": "ca"}}}}},
			},
			"containers": []any{apitest.Object{
				"name": "etcd", "envFrom": []any{apitest.Object{"configMapRef": apitest.Object{"name": "env"}}},
				"env": []any{apitest.Object{"name": "P", "valueFrom": apitest.Object{"secretKeyRef": apitest.Object{"name": "root", "key": "p"}}}},
			}},
		}}},
	})
	s.job = &Job{
		Kube: s.Client(t), Action: Set, Clock: &operatetest.HastyClock{Time: time.Unix(1_700_000_000, 0)}, StillHeld: func() error { return nil },
		Owner: owner.Owner{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "team", Name: "main", UID: "sts", StatefulSet: "main"},
		Spec:  Spec{Every: time.Hour, Keep: 24, To: to, Image: "plugin:dev", Secret: "store", Secrets: []string{"login"}, Args: []string{"--user-secret=login"}},
	}
	return s
}

// do is one command that doesn't wait for the first snapshot.
func (s *stage) do(t *testing.T, a Action) operate.Plan {
	t.Helper()
	plan := s.start(t, a)
	if err := s.job.EndFirst(t.Context()); err != nil {
		t.Fatal(err)
	}
	return plan
}

// start judges and acts, as change.Do does, on the current annotations.
func (s *stage) start(t *testing.T, a Action) operate.Plan {
	t.Helper()
	s.job.Action, s.job.Owner.Annotations = a, s.annotations()
	plan, err := s.job.Judge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if plan.Title == "" {
		return plan
	}
	if err := s.job.Act(t.Context()); err != nil {
		t.Fatal(err)
	}
	return plan
}

func (s *stage) annotations() map[string]string {
	out := map[string]string{}
	for key, value := range operatetest.Field(s.Get(operatetest.Path("StatefulSet", "main")), "metadata", "annotations") {
		out[key], _ = value.(string)
	}
	return out
}

// TestObjects compares all objects with a golden file.
func TestObjects(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	b, err := s.job.builder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range b.objects() {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, kindOf(o)+":\n"+string(text))
	}
	golden := filepath.Join("testdata", "objects.golden.yaml")
	text := strings.Join(got, "---\n")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("run UPDATE=1 go test if this is right:\n%s", diff)
	}
}

// TestRemovedOptions: an option that is given no more is removed from the CronJob.
func TestRemovedOptions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		remove func(*Spec)
		gone   string
	}{
		{"the Secret of the store", func(s *Spec) { s.Secret = "" }, `"secretRef"`},
		{"the authorities of the store", func(s *Spec) { s.CA = "" }, "store-ca"},
		{"the Secret of the user", func(s *Spec) { s.Args, s.Secrets = nil, nil }, "--user-secret"},
	} {
		s := newStage(t)
		s.job.Spec.CA = "store-root"
		s.do(t, Set)
		if text := s.cronJob(t); !strings.Contains(text, row.gone) {
			t.Fatalf("%s: %s is not in %s", row.name, row.gone, text)
		}
		row.remove(&s.job.Spec)
		if p := s.do(t, Set); !slices.Contains(p.Steps, "change CronJob "+name) {
			t.Errorf("%s: the steps are %q, %s", row.name, p.Steps, p.Already)
		}
		if text := s.cronJob(t); strings.Contains(text, row.gone) {
			t.Errorf("%s: %s is still in %s", row.name, row.gone, text)
		}
		if p := s.do(t, Set); p.Already == "" {
			t.Errorf("%s: again: %q", row.name, p.Steps)
		}
	}
}

// TestForeignAdditions: what a webhook adds to the CronJob is no change, and what it takes away is one.
func TestForeignAdditions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		// mutate changes the pod of the CronJob, and its container.
		mutate func(pod, container apitest.Object)
		change bool
	}{
		{"nothing", func(apitest.Object, apitest.Object) {}, false},
		{"a toleration", func(pod, _ apitest.Object) {
			pod["tolerations"] = []any{apitest.Object{"key": "spot", "operator": "Exists"}}
		}, false},
		{"a volume before ours", func(pod, c apitest.Object) {
			pod["volumes"] = slices.Concat([]any{apitest.Object{"name": "token", "emptyDir": apitest.Object{}}}, pod["volumes"].([]any))
			c["volumeMounts"] = slices.Concat([]any{apitest.Object{"name": "token", "mountPath": "/token"}}, c["volumeMounts"].([]any))
		}, false},
		{"variables", func(_, c apitest.Object) {
			c["env"] = []any{apitest.Object{"name": "HTTPS_PROXY", "value": "http://proxy"}}
			c["envFrom"] = append(c["envFrom"].([]any), apitest.Object{"configMapRef": apitest.Object{"name": "proxy"}})
		}, false},
		{"a container", func(pod, _ apitest.Object) {
			pod["containers"] = append(pod["containers"].([]any), apitest.Object{"name": "mesh"})
		}, false},
		{"a default", func(pod, _ apitest.Object) { pod["dnsPolicy"] = "ClusterFirst" }, false},
		{"another image", func(_, c apitest.Object) { c["image"] = "other" }, true},
		{"more arguments", func(_, c apitest.Object) { c["args"] = append(c["args"].([]any), "--force") }, true},
		{"no volume", func(pod, _ apitest.Object) { delete(pod, "volumes") }, true},
		{"no Secret", func(_, c apitest.Object) { delete(c, "envFrom") }, true},
	} {
		s := newStage(t)
		s.do(t, Set)
		path := operatetest.Path("CronJob", name)
		o := s.Get(path)
		pod := operatetest.Field(o, "spec", "jobTemplate", "spec", "template", "spec")
		row.mutate(pod, pod["containers"].([]any)[0].(apitest.Object))
		s.Put(path, o)
		if p := s.do(t, Set); (p.Already == "") != row.change {
			t.Errorf("%s: the steps are %q, %s", row.name, p.Steps, p.Already)
		}
	}
}

// TestStoreAccess: how a run gets its credentials and authorities. Neither is in its arguments.
func TestStoreAccess(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		url, ca     string
		has, hasNot []string
	}{
		{"s3://backups/team", "", []string{`"secretRef":{"name":"store"}`}, []string{"GOOGLE", "store-ca"}},
		{"azblob://backups/team?storage_account=acme", "", []string{`"secretRef":{"name":"store"}`, "storage_account=acme"}, []string{"GOOGLE"}},
		{"gs://backups/team", "", []string{`"secret":{"secretName":"store"}`, `"value":"/etc/kubectl-etcd/store-credentials/credentials.json"`, `"readOnly":true`}, []string{"envFrom"}},
		{"s3://backups/team?endpoint=https://minio", "store-root", []string{`"configMap":{"name":"store-root"}`, `--store-ca=/etc/kubectl-etcd/store-ca/ca.crt`}, nil},
	} {
		s := newStage(t)
		var err error
		if s.job.Spec.To, err = blob.ParseFolder(row.url); err != nil {
			t.Fatal(err)
		}
		s.job.Spec.CA = row.ca
		s.do(t, Set)
		text := s.cronJob(t)
		for _, part := range row.has {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %s is not in %s", row.url, part, text)
			}
		}
		for _, part := range row.hasNot {
			if strings.Contains(text, part) {
				t.Errorf("%s: %s is in %s", row.url, part, text)
			}
		}
		if p := s.do(t, Set); p.Already == "" {
			t.Errorf("%s: again: %q", row.url, p.Steps)
		}
	}
}

func (s *stage) cronJob(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(s.Get(operatetest.Path("CronJob", name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLife: a schedule is made, found as it is, changed, suspended, resumed and deleted.
//
//nolint:gocyclo // one check after the other
func TestLife(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if f, err := Find(t.Context(), s.job.Kube, s.job.Owner); f != nil || err != nil {
		t.Errorf("found %v, %v before", f, err)
	}
	if p := s.do(t, Suspend); p.Already == "" {
		t.Errorf("suspended nothing: %v", p)
	}
	plan := s.do(t, Set)
	if plan.Title != "save a snapshot of StatefulSet team/main every 1h to s3://backups/team?endpoint=https%3A%2F%2Fminio%3A9000" || len(plan.Steps) != 7 {
		t.Errorf("the plan is %q with %q", plan.Title, plan.Steps)
	}
	if a := s.annotations(); a["kubectl-etcd.dev/backup-lease"] != name || a["kubectl-etcd.dev/backup-max-age"] != "1h48m" {
		t.Errorf("the annotations are %v", a)
	}
	if operatetest.Field(s.Get(operatetest.Path("Lease", name)), "spec")["renewTime"] != nil {
		t.Error("the Lease claims a backup that was not taken")
	}
	writes := len(s.Writes())
	if p := s.do(t, Set); !strings.Contains(p.Already, "already has this schedule") || len(s.Writes()) != writes {
		t.Errorf("again: %+v, wrote %q", p, s.Writes()[writes:])
	}
	s.job.Spec.Keep = 7
	if p := s.do(t, Set); !slices.Equal(p.Steps, []string{"change CronJob " + name, "take the first snapshot now"}) {
		t.Errorf("a change of --keep: %q", p.Steps)
	} else if text := strings.Join(p.Warnings, " "); !strings.Contains(text, "deletes all but the newest 7 snapshots") || !strings.Contains(text, "add --keep 24") {
		t.Errorf("a smaller --keep warns %q", text)
	}
	s.do(t, Suspend)
	f, err := Find(t.Context(), s.job.Kube, s.job.Owner)
	if err != nil || f == nil || !f.Suspended || f.Keep != 7 || f.Every != "1h" || f.To.Container() != "backups" {
		t.Errorf("found %+v, %v", f, err)
	}
	if p := s.do(t, Suspend); !strings.Contains(p.Already, "already suspended") {
		t.Errorf("suspended twice: %v", p)
	}
	s.do(t, Resume)
	if f, _ := Find(t.Context(), s.job.Kube, s.job.Owner); f == nil || f.Suspended {
		t.Errorf("found %+v", f)
	}
	s.do(t, Delete)
	left := slices.DeleteFunc(s.Paths(), func(p string) bool { return !strings.Contains(p, name) || strings.Contains(p, "/jobs/") })
	if a := s.annotations(); len(left) > 0 || len(a) > 0 {
		t.Errorf("%q is left, and %v", left, a)
	}
	if p := s.do(t, Delete); p.Already == "" {
		t.Errorf("deleted twice: %v", p)
	}
}

// TestAwait: the first snapshot is waited for, and its failure is an error with the log to read.
func TestAwait(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]string{"Complete": "", "Failed": "kubectl logs job/etcd-backup-main-now-"} {
		s := newStage(t)
		s.do(t, Set)
		for _, path := range s.Paths() {
			if job := s.Get(path); strings.Contains(path, "/jobs/") {
				job["status"] = apitest.Object{"conditions": []any{apitest.Object{"type": condition, "status": "True"}}}
				s.Put(path, job)
			}
		}
		stored, err := s.job.Await(t.Context())
		if stored != (want == "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v", condition, stored, err)
		}
	}
}

// TestAwaitWarns: what keeps the first Job from starting is reported once, as its Events have it.
func TestAwaitWarns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.do(t, Set)
	event := func(name, object, message, at string) {
		s.Put("/api/v1/namespaces/team/events/"+name, apitest.Object{
			"apiVersion": "v1", "kind": "Event", "metadata": apitest.Object{"namespace": "team", "name": name}, "type": "Warning", "reason": "FailedCreate", "message": message,
			"lastTimestamp": at, "involvedObject": apitest.Object{"kind": "Job", "name": object},
		})
	}
	event("a", s.job.first, "exceeded quota: compute.", "2026-01-01T00:00:02Z")
	event("b", s.job.first, "an earlier one", "2026-01-01T00:00:01Z")
	event("c", "another", "of another job", "2026-01-01T00:00:03Z")
	var warned []string
	ctx, cancel := context.WithCancel(t.Context())
	s.job.Warnf = func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) }
	polls := 0
	s.job.Clock = &operatetest.HastyClock{Time: time.Unix(1_799_999_999, 0)}
	s.Refuse = func(string, string) int {
		if polls++; polls > 40 {
			cancel()
		}
		return 0
	}
	if stored, err := s.job.Await(ctx); stored || err == nil {
		t.Errorf("%v, %v", stored, err)
	}
	want := "The first snapshot waits: Job " + s.job.first + ": FailedCreate: exceeded quota: compute."
	if len(warned) != 1 || warned[0] != want {
		t.Errorf("%q, want %q", warned, want)
	}
}

// TestNamesFit: the names of the Jobs, also of the first one, are valid for a StatefulSet of any length.
func TestNamesFit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.job.Clock = &operatetest.HastyClock{Time: time.Unix(1_799_999_999, 0)}
	for n := 1; n <= 63; n++ {
		s.job.Owner.Name = strings.Repeat("m", n)
		if first := s.job.firstName(); len(first) > 63 || !strings.HasPrefix(first, "etcd-backup-m") {
			t.Errorf("%d characters: %q has %d", n, first, len(first))
		}
	}
}

// TestRefused: what has no schedule is refused, with a way that works.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		change func(*stage)
		text   string
	}{
		{func(s *stage) { s.job.Owner.Distribution, s.job.Owner.Kind = flavour.Druid, "Etcd" }, `kubectl patch etcd main -n team --type merge -p '{"spec":{"backup":{"fullSnapshotSchedule":"`},
		{func(s *stage) { s.job.Owner.Kind = "Deployment" }, "kubectl etcd snapshot save deployment/main URL -n team"},
		{func(s *stage) { s.job.Owner.Annotations = map[string]string{"kubectl-etcd.dev/backup-lease": "other"} }, "kubectl annotate statefulset main -n team kubectl-etcd.dev/backup-lease- kubectl-etcd.dev/backup-max-age-"},
		{func(s *stage) { s.job.Spec.Every = 7 * time.Minute }, "choose one of 5m,"},
		{func(s *stage) { s.job.Spec.Every = 24*time.Hour + 1 }, "choose one of 5m,"},
		{func(s *stage) { s.job.Spec.Keep = 0 }, "--keep is 0"},
		{func(s *stage) { s.job.Spec.Image = "" }, "--image"},
		{func(s *stage) { s.job.Spec.Claim = "c" }, "--claim is only for a directory"},
		{func(s *stage) { s.job.Spec.To, _ = blob.ParseFolder("file:///backup") }, "add --claim"},
		{func(s *stage) {
			s.job.Spec.To, _ = blob.ParseFolder("file:///backup")
			s.job.Spec.Claim, s.job.Spec.CA = "c", "ca"
		}, "--store-ca is only for a bucket"},
		{func(s *stage) { s.job.Spec.To, _ = blob.ParseFolder("file:///tmp"); s.job.Spec.Claim = "c" }, "file:///backup"},
		{func(s *stage) {
			s.Put(operatetest.Path("Role", name), apitest.Object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": apitest.Object{"namespace": "team", "name": name}})
		}, "was not created by this command"},
	} {
		s := newStage(t)
		row.change(s)
		if _, err := s.job.Judge(t.Context()); err == nil || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%v, want %q", err, row.text)
		}
		if w := s.Writes(); len(w) > 0 {
			t.Errorf("it wrote %q", w)
		}
	}
}

// TestWritesRefused: each write that is refused ends the command with the object's name, and a dry run writes
// nothing.
func TestWritesRefused(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"leases", "serviceaccounts", "roles", "rolebindings", "cronjobs", "statefulsets", "jobs"} {
		for _, action := range []Action{Set, Delete} {
			s := newStage(t)
			if action == Delete {
				if at == "jobs" {
					continue
				}
				s.do(t, Set)
			}
			s.job.Action, s.job.Owner.Annotations = action, s.annotations()
			if _, err := s.job.Judge(t.Context()); err != nil {
				t.Fatal(err)
			}
			before, _ := json.Marshal(s.Paths())
			if err := s.job.Try(t.Context()); err != nil {
				t.Errorf("dry run of %s: %v", action, err)
			}
			if after, _ := json.Marshal(s.Paths()); string(after) != string(before) {
				t.Errorf("the dry run of %s wrote: %s", action, after)
			}
			s.Refuse = func(method, path string) int {
				if method != http.MethodGet && strings.Contains(path, "/"+at) {
					return http.StatusForbidden
				}
				return 0
			}
			if err := s.job.Act(t.Context()); err == nil {
				t.Errorf("%s: refused writes of %s are no error", action, at)
			}
		}
	}
}

// TestPodsRefused: tryPod, and so a dry run, fails where the namespace refuses the pods of the CronJob. A user who may not create pods
// gets no pod tried.
func TestPodsRefused(t *testing.T) {
	t.Parallel()
	for _, may := range []bool{true, false} {
		s := newStage(t)
		s.Deny = func(_, resource string) bool { return resource == "pods" && !may }
		s.Refuse = func(method, path string) int {
			if method == http.MethodPost && strings.HasSuffix(path, "/pods") {
				return http.StatusForbidden
			}
			return 0
		}
		if _, err := s.job.Judge(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, err := s.job.builder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.job.tryPod(t.Context(), s.job.Kube, b.cronJob()); (err != nil) != may {
			t.Errorf("pods may be created %t: %v", may, err)
		}
		if err := s.job.Try(t.Context()); (err != nil) != may || may && !strings.Contains(err.Error(), "create a pod of CronJob team/"+name) {
			t.Errorf("pods may be created %t: %v", may, err)
		}
	}
}

// TestChangedMeanwhile: an object that changed since it was read is not written over, and one that was deleted
// is no error of a deletion.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.do(t, Set)
	s.job.Spec.Keep, s.job.Owner.Annotations = 3, s.annotations()
	if _, err := s.job.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Put(operatetest.Path("CronJob", name), s.Get(operatetest.Path("CronJob", name)))
	if err := s.job.Act(t.Context()); err == nil {
		t.Error("the change of another client is lost")
	}
	s.Remove(operatetest.Path("Role", name))
	s.do(t, Delete)
}

// TestWriters: each write fails if it is refused, and if its object is another one or does not exist any more.
//
//nolint:gocyclo // one check after the other
func TestWriters(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if _, err := s.job.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c, err := s.job.write(t.Context()); err != nil || c == nil || c.Spec.Schedule != "8 * * * *" {
		t.Errorf("wrote %v, %v", c, err)
	}
	if _, err := s.job.write(t.Context()); err == nil {
		t.Error("objects that exist meanwhile are written over")
	}
	if err := s.job.annotate(t.Context(), "lease", "25h"); err != nil || s.annotations()["kubectl-etcd.dev/backup-max-age"] != "25h" {
		t.Errorf("annotated %v, %v", s.annotations(), err)
	}
	s.job.Owner.UID = "another"
	if err := s.job.annotate(t.Context(), nil, nil); err == nil || len(s.annotations()) == 0 {
		t.Errorf("another StatefulSet has lost its annotations: %v", err)
	}
	role := (builder{owner: s.job.Owner, Spec: s.job.Spec}).objects()[2]
	s.Refuse = func(method, _ string) int {
		if method == http.MethodDelete {
			return http.StatusForbidden
		}
		return 0
	}
	if err := s.job.deleteOurs(t.Context(), role); err == nil {
		t.Error("a refused deletion is no error")
	}
	s.Refuse = nil
	if err := s.job.deleteOurs(t.Context(), role); err != nil || s.Get(operatetest.Path("Role", name)) != nil {
		t.Errorf("the Role stays: %v", err)
	}
	if err := s.job.deleteOurs(t.Context(), role); err != nil {
		t.Errorf("a deletion of nothing: %v", err)
	}
	s.Put(operatetest.Path("Role", name), apitest.Object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": apitest.Object{"namespace": "team", "name": name}})
	role = (builder{owner: s.job.Owner, Spec: s.job.Spec}).objects()[2]
	if err := s.job.deleteOurs(t.Context(), role); err != nil || s.Get(operatetest.Path("Role", name)) == nil {
		t.Errorf("another Role is deleted: %v", err)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration][3]string{
		5 * time.Minute: {"*/5 * * * *", "4m", "9m"}, time.Hour: {"8 * * * *", "48m", "1h48m"}, 6 * time.Hour: {"8 */6 * * *", "1h", "7h"},
		24 * time.Hour: {"8 1 * * *", "1h", "25h"}, 168 * time.Hour: {"8 1 * * 0", "1h", "169h"},
	} {
		at, err := cron(every, "team/main")
		s := Spec{Every: every}
		if err != nil || at != want[0] || policy.Duration(s.Deadline()) != want[1] || policy.Duration(s.MaxAge()) != want[2] {
			t.Errorf("%s: %q, %s, %s, %v", every, at, policy.Duration(s.Deadline()), policy.Duration(s.MaxAge()), err)
		}
	}
	if got := Name(strings.Repeat("long", 12)); len(got) > longest || got == Name(strings.Repeat("long", 13)) {
		t.Errorf("the name is %s", got)
	}
}
