// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestRestoreFiles finds the volumes of data and log. What is on no claim is named:
// a member that starts without its log would begin another cluster.
func TestRestoreFiles(t *testing.T) {
	t.Parallel()
	data := corev1.VolumeMount{Name: "data", MountPath: "/data"}
	for _, row := range []struct {
		name   string
		wal    string
		mounts []corev1.VolumeMount
		claims string
		loose  string
		paths  int // mounts of the pod beside the volumes
	}{
		{name: "the log is with the data", mounts: []corev1.VolumeMount{data}, claims: "data-__POD__", paths: 1},
		{name: "a log beside the data", wal: "/data/wal", mounts: []corev1.VolumeMount{data}, claims: "data-__POD__", paths: 1},
		{name: "a volume for the log", wal: "/wal/log", mounts: []corev1.VolumeMount{data, {Name: "wal", MountPath: "/wal"}}, claims: "data-__POD__ wal-__POD__", paths: 2},
		{name: "two parts of a volume", wal: "/wal/log", mounts: []corev1.VolumeMount{data, {Name: "data", MountPath: "/wal", SubPath: "wal"}}, claims: "data-__POD__", paths: 2},
		{name: "a log that goes with its pod", wal: "/tmp/log", mounts: []corev1.VolumeMount{data, {Name: "scratch", MountPath: "/tmp"}}, loose: "/tmp/log"},
		{name: "a log in the image", wal: "/var/log", mounts: []corev1.VolumeMount{data}, loose: "/var/log"},
		{name: "data in the image", mounts: nil, loose: "/data/etcd"},
		{name: "a log in a variable", wal: "/data/$(NAME)", mounts: []corev1.VolumeMount{data}, loose: "/data/$(NAME)"},
		{name: "a relative log", wal: "wal", mounts: []corev1.VolumeMount{data, {Name: "wal", MountPath: "/"}}, loose: "wal"},
	} {
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "main"}}
		for _, claim := range []string{"data", "wal"} {
			sts.Spec.VolumeClaimTemplates = append(sts.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}})
		}
		sts.Spec.Template.Spec.Containers = []corev1.Container{{Name: "etcd", VolumeMounts: row.mounts}}
		r := &Plan{}
		if err := r.findFiles(sts, etcdconf.Config{Container: "etcd", DataDir: "/data/etcd", WALDir: row.wal}, "busybox"); err != nil {
			t.Fatal(err)
		}
		if r.Files.UnmountedDataDir != row.loose || (r.Files.Manifest == "") != (row.loose != "") {
			t.Errorf("%s: %q is loose, want %q\n%s", row.name, r.Files.UnmountedDataDir, row.loose, r.Files.Manifest)
		}
		if paths := strings.Count(r.Files.Manifest, "mountPath:"); row.loose == "" && (strings.Join(r.Files.Claims, " ") != row.claims || paths != row.paths) {
			t.Errorf("%s: claims %q, want %q, and %d mounts, want %d\n%s", row.name, r.Files.Claims, row.claims, paths, row.paths, r.Files.Manifest)
		}
	}
}

// TestWaitsForOthers distinguishes the probes that a member passes alone from those that it
// passes only with a quorum.
func TestWaitsForOthers(t *testing.T) {
	t.Parallel()
	get := func(path string, port intstr.IntOrString) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: port}}}
	}
	metrics, clients := intstr.FromString("metrics"), intstr.FromInt32(2379)
	for _, row := range []struct {
		name               string
		readiness, startup *corev1.Probe
		want               bool
	}{
		{name: "none"},
		{name: "readyz", readiness: get("/readyz", metrics), want: true},
		{name: "health", readiness: get("/health", metrics), want: true},
		{name: "health of itself alone", readiness: get("/health?serializable=true", metrics)},
		{name: "livez", readiness: get("/livez", intstr.FromInt32(8080))},
		{name: "livez where nothing is served before it has joined", readiness: get("/livez", clients), want: true},
		{name: "a port", readiness: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: clients}}}},
		{name: "a script", readiness: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/check.sh"}}}}, want: true},
		{name: "at the start alone", readiness: get("/livez", metrics), startup: get("/readyz", metrics), want: true},
	} {
		sts := &appsv1.StatefulSet{}
		sts.Spec.Template.Spec.Containers = []corev1.Container{{
			Name: "etcd", ReadinessProbe: row.readiness, StartupProbe: row.startup,
			Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8080}},
		}}
		serving := etcdconf.Config{Container: "etcd", ListenMetrics: []string{"http://0.0.0.0:8080"}}
		if got := waitsForOthers(sts, serving); got != row.want {
			t.Errorf("%s: waits for others: %t, want %t", row.name, got, row.want)
		}
	}
}

// TestWaitsForAlarm distinguishes the probes that fail under NOSPACE although a member passes them alone otherwise.
func TestWaitsForAlarm(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"": false, "/readyz": false, "/livez": false, "/metrics": false, "/health": true, "/health?serializable=true": true,
		"/health?serializable=true&exclude=NOSPACE": false, "/health?exclude=CORRUPT": true, "/health?exclude=CORRUPT&exclude=NOSPACE": false,
	} {
		c := corev1.Container{Name: "etcd"}
		if path != "" {
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("metrics")}}}
		}
		startup := corev1.Container{Name: "etcd", StartupProbe: c.ReadinessProbe}
		for _, c := range []corev1.Container{c, startup} {
			sts := &appsv1.StatefulSet{}
			sts.Spec.Template.Spec.Containers = []corev1.Container{{Name: "other"}, c}
			if got := waitsForAlarm(sts, etcdconf.Config{Container: "etcd"}); got != want {
				t.Errorf("%q: %t", path, got)
			}
		}
	}
}

// TestRestoreOneByOne: members that start one after the other are restored as one,
// which grows in the way that its members are added.
func TestRestoreOneByOne(t *testing.T) {
	t.Parallel()
	for distribution, want := range map[flavour.Name]string{
		flavour.Plain:   "kubectl etcd -n team scale statefulset/main --replicas 3 -y",
		flavour.Bitnami: "which the members' start script adds: ",
	} {
		r := Plan{
			File: "main.db", Etcd: "3.6.5", OneByOne: true, Flags: step.Flags{Kubectl: "-n team"}, At: time.Unix(0, 0),
			Clients: true, DeletesClaims: true,
			Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Distribution: distribution, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"},
			Files: Files{DataDir: "/data/etcd", WALDir: "/wal/log", Claims: []string{"data-__POD__", "wal-__POD__"}, Manifest: "kind: Pod\n"},
		}
		for _, pod := range []string{"main-0", "main-1", "main-2"} {
			r.Members = append(r.Members, Member{Pod: pod, Name: pod, PeerURL: "http://" + pod + ".main:2380"})
		}
		steps, _, err := Steps(r)
		if err != nil {
			t.Fatal(err)
		}
		var lines, titles []string
		for _, s := range steps {
			titles = append(titles, s.Title)
			lines = append(lines, s.Title, s.Why)
			lines = append(lines, s.Commands(r.Flags)...)
		}
		text := strings.Join(lines, "\n")
		for _, part := range []string{
			want, "\"replicas\":1}}", "--initial-cluster main-0=http://main-0.main:2380 \\", "--wal-dir restored-19700101T000000/main-0.wal",
			"mv /wal/log /wal/log.before-19700101T000000", "delete pvc --ignore-not-found data-main-1 wal-main-1 data-main-2 wal-main-2",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: it lacks %q:\n%s", distribution, part, text)
			}
		}
		if in, grow := slices.Index(titles, "Let clients in"), slices.Index(titles, "Add the other members"); in < 0 || grow < in {
			t.Errorf("%s: members are added while client traffic is cut, which is refused: %q", distribution, titles)
		}
		if strings.Index(text, `"whenScaled":"Delete"`) < strings.Index(text, "Free the claims") {
			t.Errorf("%s: what becomes of claims isn't as it was in the end:\n%s", distribution, text)
		}
		if distribution != flavour.Plain && slices.ContainsFunc(lines, func(c string) bool { return strings.HasPrefix(c, "kubectl etcd -n team scale") }) {
			t.Errorf("%s: it has a command that is refused:\n%s", distribution, text)
		}
	}
}

// TestProposeOtherSteps: the plan under the lock is the one that the user agreed to only if it has the same steps.
func TestProposeOtherSteps(t *testing.T) {
	t.Parallel()
	subject := func(change func(*Plan)) string {
		r := changed(plainRestore(), change)
		steps, warnings, err := Steps(r)
		if err != nil {
			t.Fatal(err)
		}
		return r.Propose(steps, warnings).Subject
	}
	agreed := subject(func(*Plan) {})
	for name, change := range map[string]func(*Plan){
		"client traffic can't be cut": func(r *Plan) { r.Clients, r.Uncut = false, "a change is under way (rollout)" },
		"a claim is gone":             func(r *Plan) { r.Gone = []string{"data-main-1"} },
		"the present data is saved":   func(r *Plan) { r.Answers = true },
		"another snapshot":            func(r *Plan) { r.Snapshot.SHA256[0]++ },
		"another StatefulSet":         func(r *Plan) { r.Owner.UID = "other" },
	} {
		if subject(change) == agreed {
			t.Errorf("%s: the user is not asked again", name)
		}
	}
	if subject(func(*Plan) {}) != agreed {
		t.Error("the same plan is another one")
	}
}

// TestLocalFiles: restores that begin in the same second and directory share no file on this machine.
func TestLocalFiles(t *testing.T) {
	t.Parallel()
	files := func(r Plan) []string {
		r.Answers = true
		names := r.Local()
		for _, s := range r.steps() {
			for _, a := range s.Acts {
				if save, is := a.(step.SaveSnapshot); is {
					names = append(names, save.File)
				}
			}
		}
		return names
	}
	mine := changed(plainRestore(), func(r *Plan) { r.Owner.UID = "1a2b3c4d-0000-4000-8000-000000000000" })
	theirs := changed(mine, func(r *Plan) { r.Owner.UID = "5e6f7a8b-0000-4000-8000-000000000000" })
	if want := 4; len(files(mine)) != want {
		t.Fatalf("files are %q, want %d", files(mine), want)
	}
	for i, name := range files(mine) {
		if name == files(theirs)[i] {
			t.Errorf("two restores use %s", name)
		}
	}
}
