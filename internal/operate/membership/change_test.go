// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

const journalPath = "/api/v1/namespaces/team/configmaps/kubectl-etcd-main"

var main = owner.Owner{Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}

// secret is a value that a pod template has and that must not be in a ConfigMap.
const secret = "hunter2"

func secretTemplate() podTemplate {
	variable := func(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }
	return podTemplate{
		template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
			{
				Name: "etcd", Command: []string{"sh", "-c", "exec etcd --initial-cluster=a=http://a:2380 --password " + secret},
				Args: []string{"--root-password=" + secret, "--initial-cluster-state", "new"},
				Env: []corev1.EnvVar{
					variable("ETCD_ROOT_PASSWORD", secret), variable("ETCD_INITIAL_CLUSTER", "a=http://a:2380"),
					variable("ETCD_INITIAL_CLUSTER_TOKEN", secret), variable("ETCD_NAME", secret),
				},
			},
			{Name: "sidecar", Env: []corev1.EnvVar{variable("AWS_SECRET_ACCESS_KEY", secret)}, Args: []string{secret}},
		}}},
		configs: map[string]map[string]string{"settings": {"state": "new", "password": secret}},
	}
}

// TestJournalHasNoSecrets: a journal keeps what undoing needs, and no other value of
// variables, command lines and ConfigMaps.
func TestJournalHasNoSecrets(t *testing.T) {
	t.Parallel()
	server := apitest.New(t)
	kube := server.Client(t)
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main", UID: "sts-1"}}
	r := secretTemplate()
	edited := r.clone()
	edited.setKey("settings", "state", "existing")
	found, err := foundIn(sts, r, etcdconf.Config{Container: "etcd"}, edited)
	if err != nil {
		t.Fatal(err)
	}
	j := &Change{Record: membership.Record{Operation: membership.ScaleOut, Replicas: 1, Target: 3}, Found: found}
	j.journal.Object, j.journal.By, j.journal.Reason, j.journal.Began = sts.UID, "ann@desk (pid 7)", "more room", time.Unix(1, 0).UTC()
	if err := j.begin(t.Context(), kube, sts, false); err != nil {
		t.Fatal(err)
	}
	if err := j.undo(t.Context(), kube); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(server.Get(journalPath))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) {
		t.Errorf("the journal has a secret: %s", text)
	}
	read, err := ReadChange(t.Context(), kube, main)
	if err != nil {
		t.Fatal(err)
	}
	if !read.journal.Same(&j.journal) || read.journal.By != j.journal.By || read.journal.Reason != j.journal.Reason || read.journal.Kind != "scale" {
		t.Errorf("the journal that was read is %+v", read.journal)
	}
	if diff := cmp.Diff(j.Record, read.Record); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(j.Found, read.Found); diff != "" {
		t.Error(diff)
	}
	if err := read.end(t.Context(), kube); err != nil || server.Get(journalPath) != nil {
		t.Errorf("the journal is still there: %v", err)
	}
}

// TestReadFirstFormat: a journal that an earlier version wrote can be resumed and undone, and
// loses its secrets when it is written again.
func TestReadFirstFormat(t *testing.T) {
	t.Parallel()
	server := apitest.New(t)
	kube := server.Client(t)
	r := secretTemplate()
	rest, err := templateDigest(r, "etcd")
	if err != nil {
		t.Fatal(err)
	}
	c := r.template.Spec.Containers[0]
	old, err := json.Marshal(map[string]any{
		"Operation": "Replace", "Target": 3, "Replicas": 3, "OnDelete": false, "Partition": 1, "KeepClaims": false, "Place": 2, "Member": 77,
		"UID": "pod-1", "Claims": []string{"claim-1"}, "Undo": false, "Began": time.Unix(1, 0).UTC(), "Reason": "it broke", "StatefulSet": "sts-1",
		"Strategy": appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}, "Container": "etcd",
		"Command": c.Command, "Args": c.Args, "Env": c.Env, "Configs": map[string]any{"settings": map[string]string{"state": "new"}}, "Rest": rest,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Put(journalPath, apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main"},
		"data": apitest.Object{"journal.json": string(old)},
	})
	j, err := ReadChange(t.Context(), kube, main)
	if err != nil {
		t.Fatal(err)
	}
	want := membership.Record{Operation: membership.Replace, Target: 3, Replicas: 3, Partition: 1, Ordinal: 2, Member: 77, UID: "pod-1", Claims: []string{"claim-1"}}
	if diff := cmp.Diff(want, j.Record); diff != "" {
		t.Error(diff)
	}
	if j.journal.Kind != "member replace" || j.journal.Object != "sts-1" || j.journal.Reason != "it broke" || !j.journal.Began.Equal(time.Unix(1, 0)) {
		t.Errorf("the journal that was read is %+v", j.journal)
	}
	restoresTo(t, j, r)
	if err := j.undo(t.Context(), kube); err != nil {
		t.Fatal(err)
	}
	text := server.Get(journalPath)["data"].(apitest.Object)["journal.json"].(string) //nolint:forcetypeassert // as it was put
	if strings.Contains(text, secret) || !strings.Contains(text, `"kind": "member replace"`) {
		t.Errorf("written again it is %s", text)
	}
}

// restoresTo edits a template and wants the change to restore it.
func restoresTo(t *testing.T, j *Change, r podTemplate) {
	t.Helper()
	edited := r.clone()
	if err := edited.setBootstrap(etcdconf.Config{Container: "etcd", Where: map[string]string{settingCluster: "flag", settingState: "flag"}}, "a=http://a:2380,b=http://b:2380", "existing"); err != nil {
		t.Fatal(err)
	}
	edited.setKey("settings", "state", "existing")
	if j.Found.isIn(edited) {
		t.Error("the edited template is taken for the original")
	}
	j.Found.restore(&edited)
	if diff := cmp.Diff(r.template, edited.template); diff != "" {
		t.Error(diff)
	}
	if now, err := templateDigest(edited, "etcd"); err != nil || now != j.Found.TemplateDigest {
		t.Errorf("the template's digest is %s, not %s: %v", now, j.Found.TemplateDigest, err)
	}
}

// TestReadUnknownJournal: what this version can't go on with is refused, with what to do.
func TestReadUnknownJournal(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no kind":             `{}`,
		"a flat operation":    `{"Operation":"Shuffle"}`,
		"another kind":        `{"kind":"restore","payload":{}}`,
		"another's operation": `{"kind":"scale","payload":{"Operation":"ScaleSideways"}}`,
		"kind and operation":  `{"kind":"scale","payload":{"Operation":"Replace"}}`,
	} {
		server := apitest.New(t)
		server.Put(journalPath, apitest.Object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": journal.Name(main)},
			"data": apitest.Object{"journal.json": text},
		})
		if _, err := ReadChange(t.Context(), server.Client(t), main); err == nil || !strings.Contains(err.Error(), "use the version of kubectl-etcd that began") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadHostileNumbers: a journal that another client has changed neither stops the program nor has
// it read ordinals without end.
func TestReadHostileNumbers(t *testing.T) {
	t.Parallel()
	for text, reads := range map[string]bool{
		`{"kind":"scale","payload":{"Operation":"ScaleOut","Target":5,"Replicas":3}}`:                                      true,
		`{"kind":"scale","payload":{"Operation":"ScaleOut","Target":2000000000,"Replicas":3}}`:                             false,
		`{"kind":"scale","payload":{"Operation":"ScaleIn","Target":-1,"Replicas":3}}`:                                      false,
		`{"kind":"scale","payload":{"Operation":"ScaleIn","Target":1,"Replicas":99}}`:                                      false,
		`{"kind":"scale","payload":{"Operation":"ScaleIn","Target":1,"Replicas":3,"Partition":-1}}`:                        false,
		`{"kind":"member replace","payload":{"Operation":"Replace","Target":3,"Replicas":3,"Place":2}}`:                    true,
		`{"kind":"member replace","payload":{"Operation":"Replace","Target":3,"Replicas":3,"Place":3}}`:                    false,
		`{"kind":"member replace","payload":{"Operation":"Replace","Target":3,"Replicas":3,"Place":-1}}`:                   false,
		`{"Operation":"Replace","Target":3,"Replicas":3,"Place":-1}`:                                                       false,
		`{"kind":"member replace","payload":{"Operation":"Replace","Target":3,"Replicas":3,"Place":1,"Command":["sh",7]}}`: false,
	} {
		server := apitest.New(t)
		server.Put(journalPath, apitest.Object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": journal.Name(main)},
			"data": apitest.Object{"journal.json": text},
		})
		j, err := ReadChange(t.Context(), server.Client(t), main)
		if (err == nil) != reads || (j != nil) != reads {
			t.Errorf("%s is read as %+v: %v", text, j, err)
		}
		if err != nil && !strings.Contains(err.Error(), "read the journal of StatefulSet team/main, ConfigMap kubectl-etcd-main: ") {
			t.Errorf("the error names no object: %v", err)
		}
	}
}

// TestUndoAgain: an undo that was not recorded is recorded by the next attempt.
func TestUndoAgain(t *testing.T) {
	t.Parallel()
	server := apitest.New(t)
	kube := server.Client(t)
	j := &Change{Record: membership.Record{Operation: membership.ScaleOut, Replicas: 1, Target: 3}}
	if err := j.begin(t.Context(), kube, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main", UID: "sts-1"}}, false); err != nil {
		t.Fatal(err)
	}
	server.Refuse = func(method, _ string) int {
		if method == http.MethodPatch {
			return http.StatusInternalServerError
		}
		return 0
	}
	if err := j.undo(t.Context(), kube); err == nil || j.Undo {
		t.Errorf("it was recorded: %t, %v", j.Undo, err)
	}
	server.Refuse = nil
	if err := j.undo(t.Context(), kube); err != nil {
		t.Fatal(err)
	}
	if read, err := ReadChange(t.Context(), kube, main); err != nil || !read.Undo {
		t.Errorf("it is not recorded: %v", err)
	}
}
