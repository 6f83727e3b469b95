// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// fromSecret and fromConfig are objects that a container's environment is from.
func fromSecret(name string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: &optional}}
}

func fromConfig(name string) corev1.EnvFromSource {
	return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
}

func ofKey(secret, key string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}}
}

// TestPeersOfPod has a row per way in which a pod shows its list, or does not show it.
func TestPeersOfPod(t *testing.T) {
	t.Parallel()
	const two = "a=http://a:2380,b=http://b:2380"
	all := []string{"etcd", "--name=a", "--initial-advertise-peer-urls=http://a:2380", "--initial-cluster=" + two}
	sh := func(script string) []string { return []string{"sh", "-c", script} }
	for _, row := range []struct {
		name    string
		command []string
		env     []corev1.EnvVar
		from    []corev1.EnvFromSource
		listed  string
		unknown string
	}{
		{name: "flags", command: all, listed: two},
		{name: "flags, and a Secret", command: all, from: []corev1.EnvFromSource{fromSecret("tuning", false)}, listed: two},
		{name: "flags, and a Secret that need not exist", command: all, from: []corev1.EnvFromSource{fromSecret("tuning", true)}, listed: two},
		{name: "flags, and a ConfigMap", command: all, from: []corev1.EnvFromSource{fromConfig("tuning")}, listed: two},
		{name: "flags, and a variable of a Secret", command: all, env: []corev1.EnvVar{{Name: "ETCD_WAL_DIR", ValueFrom: ofKey("s", "wal")}}, listed: two},
		{name: "flags in a script, and a Secret", command: sh("exec etcd --name a --initial-cluster " + two), from: []corev1.EnvFromSource{fromSecret("tuning", false)}, listed: two},
		{name: "its host's name in a script, and a Secret", command: sh("exec etcd --name ${HOSTNAME} --initial-cluster $HOSTNAME=http://${HOSTNAME}:2380,b=http://b:2380"),
			from: []corev1.EnvFromSource{fromSecret("tuning", false)}, listed: "a-0=http://a-0:2380,b=http://b:2380"},
		{name: "env before a Secret", command: []string{"etcd", "--name=a"}, env: []corev1.EnvVar{{Name: "ETCD_INITIAL_CLUSTER", Value: two}}, from: []corev1.EnvFromSource{fromSecret("tuning", false)}, listed: two},
		{name: "no list", command: []string{"etcd", "--name=a"}},
		{name: "no list, and a Secret with a prefix", command: []string{"etcd", "--name=a"}, from: []corev1.EnvFromSource{{Prefix: "APP_", SecretRef: fromSecret("app", false).SecretRef}}},
		{name: "one of a script's ways, which is behind another", command: sh("if [ -d /d/member ]; then exec etcd --name a; fi\nexec etcd --name a --initial-cluster " + two), listed: two},
		{name: "one of a script's ways, before another", command: sh("if [ ! -d /d/member ]; then exec etcd --name a --initial-cluster " + two + "; fi\nexec etcd --name a"), listed: two},
		{name: "two of a script's ways, before another", command: sh("if [ $X ]; then exec etcd --name a --initial-cluster " + two + "; elif [ $Y ]; then exec etcd --name a --initial-cluster " + two + "; fi\nexec etcd --name a"), listed: two},
		{name: "two lists of a script's ways, before another", command: sh("if [ $X ]; then exec etcd --name a --initial-cluster " + two + "; elif [ $Y ]; then exec etcd --name a --initial-cluster a=http://a:2380; fi\nexec etcd --name a"),
			unknown: "the ways of the script that starts etcd give it different values"},
		{name: "a list that a way computes, before another", command: sh("if [ $X ]; then exec etcd --name a --initial-cluster $(cat /peers); fi\nexec etcd --name a"), unknown: "only known in the pod: $(cat /peers)"},
		{name: "itself", command: []string{"etcd", "--name=a", "--initial-cluster=a=http://a:2380"}, listed: "a=http://a:2380"},
		{name: "itself at an address that the pod alone knows", command: sh("exec etcd --name a --initial-cluster a=http://$(hostname -i):2380"), listed: "a=http://$(hostname -i):2380"},
		{name: "itself by a name that the pod alone knows", command: sh("N=$(cat /id)\nexec etcd --name $N --initial-cluster $N=http://$N:2380"), listed: "$(cat /id)=http://$(cat /id):2380"},

		{name: "a Secret may have it", command: []string{"etcd", "--name=a"}, from: []corev1.EnvFromSource{fromSecret("tuning", false)}, unknown: "Secret n/tuning is not read"},
		{name: "a Secret that need not exist may have it", command: []string{"etcd", "--name=a"}, from: []corev1.EnvFromSource{fromSecret("tuning", true)}, unknown: "Secret n/tuning is not read"},
		{name: "a ConfigMap before a Secret may have it", command: []string{"etcd", "--name=a"}, from: []corev1.EnvFromSource{fromConfig("peers"), fromSecret("tuning", false)}, unknown: "Secret n/tuning"},
		{name: "a key of a Secret has it", command: []string{"etcd"}, env: []corev1.EnvVar{{Name: "ETCD_INITIAL_CLUSTER", ValueFrom: ofKey("peers", "list")}}, unknown: "Secret n/peers"},
		{name: "an argument refers to a Secret", command: []string{"etcd", "--name=a", "--initial-cluster=$(LIST)"}, from: []corev1.EnvFromSource{fromSecret("peers", false)}, unknown: "Secret n/peers"},
		{name: "an argument refers to a variable that refers to a Secret", command: []string{"etcd", "--name=a", "--initial-cluster=$(LIST)"},
			env: []corev1.EnvVar{{Name: "MORE", ValueFrom: ofKey("peers", "list")}, {Name: "LIST", Value: "a=http://a:2380,$(MORE)"}}, unknown: "Secret n/peers"},
		{name: "a script has a default for it", command: sh("exec etcd --name a --initial-cluster ${LIST:-a=http://a:2380}"), from: []corev1.EnvFromSource{fromSecret("peers", false)}, unknown: "Secret n/peers"},
		{name: "a script computes it", command: sh("exec etcd --name a --initial-cluster $(cat /peers)"), unknown: "only known in the pod: $(cat /peers)"},
		{name: "a script computes the rest of it", command: sh("exec etcd --name a --initial-cluster a=http://a:2380,$(cat /peers)"), unknown: "$(cat /peers)"},
		{name: "a script computes it by a command with flags", command: sh("exec etcd --name a --initial-cluster $(discover --cacert=/x --of=b,c=d)"), unknown: "pod: $(discover --cacert=/x --of=b,c=d)"},
		{name: "a script computes it by a function of its shell", command: sh("exec etcd --name a --initial-cluster `discover --cacert=/x`"), unknown: "pod: `discover --cacert=/x`"},
		{name: "a script computes the flags", command: sh("exec etcd --name a $(cat /flags)"), unknown: "arguments of etcd are only known in the pod"},
		{name: "the arguments of a script are those of the image", command: sh("set -- $(cat /flags)\nexec etcd --name a \"$@\""), unknown: "only known in the pod"},
		{name: "a file", command: []string{"etcd", "--config-file=/etc/etcd.yaml"}, unknown: "configuration of etcd"},
		{name: "a file by a variable", command: []string{"etcd"}, env: []corev1.EnvVar{{Name: "ETCD_CONFIG_FILE", Value: "/etc/etcd.yaml"}}, unknown: "configuration of etcd"},
		{name: "a file by a variable of a Secret", command: all, env: []corev1.EnvVar{{Name: "ETCD_CONFIG_FILE", ValueFrom: ofKey("s", "file")}}, unknown: "Secret n/s"},
		{name: "a file by a script", command: sh("export ETCD_CONFIG_FILE=$CONF\nexec etcd --name a --initial-cluster a=http://a:2380"), from: []corev1.EnvFromSource{fromSecret("s", false)}, unknown: "Secret n/s"},
		{name: "DNS has it", command: []string{"etcd", "--name=a", "--discovery-srv=example.com"}, unknown: "--discovery-srv finds the members"},
		{name: "a name of a Secret", command: []string{"etcd", "--initial-cluster=" + two}, from: []corev1.EnvFromSource{fromSecret("id", false)}, unknown: "ETCD_NAME", listed: two},
		{name: "a list of others", command: []string{"etcd", "--name=c", "--initial-cluster=" + two}, unknown: "does not name the member itself, c", listed: two},
		{name: "a new cluster", command: sh("exec etcd --name a --initial-cluster-state new")},
		{name: "a member of an existing cluster", command: sh("exec etcd --name a --initial-cluster-state existing"), unknown: "is existing, without --initial-cluster"},
		{name: "a member of an existing cluster, by a variable", command: []string{"etcd", "--name=a"}, env: []corev1.EnvVar{{Name: "ETCD_INITIAL_CLUSTER_STATE", Value: "existing"}}, unknown: "is existing"},
		{name: "a state of a Secret", command: []string{"etcd", "--name=a"}, env: []corev1.EnvVar{{Name: "ETCD_INITIAL_CLUSTER_STATE", ValueFrom: ofKey("s", "state")}}, unknown: "Secret n/s"},
		{name: "a state that the pod alone knows", command: sh("exec etcd --name a --initial-cluster-state $(cat /state)"), unknown: "is $(cat /state)"},
		{name: "an existing cluster that is listed", command: sh("exec etcd --name a --initial-cluster-state existing --initial-cluster " + two), listed: two},
		{name: "restored with a list", command: sh("etcdutl snapshot restore /b --name a --data-dir /d --initial-cluster " + two + "; exec etcd --name a"), unknown: "container etcd restores a snapshot"},
		{name: "restored with a list on one way", command: sh("if [ ! -d /d/member ]; then etcdctl --x y snapshot restore --initial-cluster=" + two + " /b; fi\nexec etcd --name a --data-dir /d"), unknown: "restores a snapshot"},
		{name: "restored with a list that the pod alone knows", command: sh("etcdutl snapshot restore /b --initial-cluster \"$(cat /peers)\"\nexec etcd --name a"), unknown: "restores a snapshot"},
		{name: "restored by a function", command: sh("r() { $U snapshot restore /b \"$@\"; }\nr --initial-cluster " + two + "\nexec etcd --name a"), unknown: "restores a snapshot"},
		{name: "restored as the only member", command: sh("etcdutl snapshot restore /b --name a --initial-cluster a=http://a:2380 --initial-cluster-token t; exec etcd --name a")},
		{name: "restored with etcd's default", command: sh("etcdutl snapshot restore /b --data-dir /d; exec etcd --name a")},
		{name: "restored, and listed", command: sh("etcdutl snapshot restore /b --initial-cluster " + two + "; exec etcd --name a --initial-cluster " + two), listed: two},
		{name: "a message about a restore", command: sh("echo etcdutl snapshot restore /b --initial-cluster " + two + "; exec etcd --name a")},
		{name: "two containers run etcd", command: nil, unknown: "both run etcd"},
	} {
		c := corev1.Container{Name: "etcd", Command: row.command, Env: row.env, EnvFrom: row.from}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a-0"}, Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
		if row.command == nil {
			pod.Spec.Containers = []corev1.Container{{Name: "x", Command: all}, {Name: "y", Command: all}}
		}
		got := PeersOfPod(pod)
		var listed []string
		for _, e := range got.Listed {
			listed = append(listed, e.Name+"="+e.URL)
		}
		if (got.Unknown == "") != (row.unknown == "") || !strings.Contains(got.Unknown, row.unknown) {
			t.Errorf("%s: unknown is %q, want %q", row.name, got.Unknown, row.unknown)
		}
		if row.unknown == "" && strings.Join(listed, ",") != row.listed {
			t.Errorf("%s: listed %q, want %q", row.name, listed, row.listed)
		}
	}
}

// TestPeersOfRestore: an init container may restore the data of a cluster, of which etcd's own flags show nothing.
func TestPeersOfRestore(t *testing.T) {
	t.Parallel()
	const two = "a=http://a:2380,b=http://b:2380"
	for want, argv := range map[string][]string{
		"container r restores": {"etcdutl", "snapshot", "restore", "/b", "--initial-cluster", two},
		"container r":          {"sh", "-c", "etcdctl snapshot restore /b --initial-cluster=" + two},
		"":                     {"etcdutl", "snapshot", "restore", "/b"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a-0"}}
		pod.Spec.InitContainers = []corev1.Container{{Name: "r", Command: argv}}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd", "--name=a"}}}
		if got := PeersOfPod(pod).Unknown; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: unknown is %q, want %q", argv, got, want)
		}
	}
}

// TestPeersOfLauncher has containers that an annotation or variables show to run etcd, behind another program. What
// the container doesn't pass, that program may add.
func TestPeersOfLauncher(t *testing.T) {
	t.Parallel()
	const two, launcher, image = "a=http://a:2380,b=http://b:2380", "what /launcher gives to etcd is only known in the pod", "what the image gives to etcd"
	member := []corev1.EnvVar{{Name: "ETCD_NAME", Value: "a"}, {Name: "ETCD_LISTEN_CLIENT_URLS", Value: "http://0.0.0.0:2379"}, {Name: "ETCD_LISTEN_PEER_URLS", Value: "http://0.0.0.0:2380"}}
	with := func(name, value string) []corev1.EnvVar {
		return append(slices.Clone(member), corev1.EnvVar{Name: name, Value: value})
	}
	for _, row := range []struct {
		name            string
		image           string
		command, args   []string
		env             []corev1.EnvVar
		shown           bool
		listed, unknown string
	}{
		{name: "a launcher", command: []string{"/launcher"}, unknown: launcher},
		{name: "a launcher with other flags", command: []string{"/launcher", "--name=a", "--initial-advertise-peer-urls=http://a:2380"}, unknown: launcher},
		{name: "a launcher with variables", command: []string{"/launcher"}, env: []corev1.EnvVar{{Name: "ETCD_NAME", Value: "a"}, {Name: "ETCD_DATA_DIR", Value: "/data"}, {Name: "ETCD_INITIAL_CLUSTER"}}, unknown: launcher},
		{name: "a launcher in a script", command: []string{"sh", "-c", "mkfifo /log; exec /etcd-manager --data-dir=/data"}, unknown: "what sh gives to etcd"},
		{name: "the image", unknown: image},
		{name: "the image, with flags", args: []string{"--data-dir=/data"}, unknown: image},
		{name: "the list is passed", command: []string{"/launcher", "--name=a", "--initial-cluster=" + two}, listed: two},
		{name: "the list is a variable", command: []string{"/launcher", "--name=a"}, env: []corev1.EnvVar{{Name: "ETCD_INITIAL_CLUSTER", Value: two}}, listed: two},
		{name: "etcd itself", command: []string{"etcd", "--name=a"}},
		{name: "the image, with a member's variables", env: member, shown: true, unknown: image},
		{name: "a script, with a member's variables", command: []string{"/run/start.sh"}, env: member, shown: true, unknown: "what /run/start.sh gives to etcd is only known in the pod"},
		{name: "etcd's image, with a member's variables", image: "quay.io/coreos/etcd:v3.6.5", env: member, shown: true},
		{name: "Bitnami's image, with a password", env: with("ETCD_ROOT_PASSWORD", "x"), shown: true},
		{name: "the image, with a list", env: with("ETCD_INITIAL_CLUSTER", two), shown: true, listed: two},
		{name: "a script, with a list", command: []string{"/run/start.sh"}, env: with("ETCD_INITIAL_CLUSTER", two), shown: true, listed: two},
		{name: "Bitnami's chart", env: with("ETCD_ON_K8S", "yes"), shown: true},
		{name: "Bitnami's image", env: with("ALLOW_NONE_AUTHENTICATION", "yes"), shown: true},
		{name: "a script in Bitnami's image", command: []string{"/run/start.sh"}, env: with("ALLOW_NONE_AUTHENTICATION", "yes"), shown: true, unknown: "what /run/start.sh gives to etcd"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a-0"}}
		if !row.shown {
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: "etcd"}
		}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Image: row.image, Command: row.command, Args: row.args, Env: row.env, VolumeMounts: []corev1.VolumeMount{{Name: "run", MountPath: "/run"}}}}
		got := PeersOfPod(pod)
		if (got.Unknown == "") != (row.unknown == "") || !strings.Contains(got.Unknown, row.unknown) {
			t.Errorf("%s: unknown is %q, want %q", row.name, got.Unknown, row.unknown)
		}
		var listed []string
		for _, e := range got.Listed {
			listed = append(listed, e.Name+"="+e.URL)
		}
		if strings.Join(listed, ",") != row.listed {
			t.Errorf("%s: listed %q, want %q", row.name, listed, row.listed)
		}
	}
}

// TestSettingsOfLauncher holds that no setting has etcd's default where a program that isn't shown may give etcd another
// one.
func TestSettingsOfLauncher(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.EtcdAnnotation: "db"}}}
	pod.Spec.Containers = []corev1.Container{{
		Name: "db", Command: []string{"backup-restore-sidecar", "wait"}, Args: []string{"--data-dir=/data"},
		Env: []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "7"}},
	}}
	config, err := ParsePod(pod, Unread(""))
	if err != nil || config.Launcher != "backup-restore-sidecar" || config.DataDir != "/data" || config.QuotaBytes != 7 {
		t.Fatalf("%+v, %v", config, err)
	}
	for _, flag := range []string{
		"name", "wal-dir", "listen-client-urls", "listen-peer-urls", "cert-file", "client-cert-auth", "auto-tls", "peer-cert-file", "auto-compaction-retention", "initial-cluster",
	} {
		if why := config.Unknown[flag]; why != "what backup-restore-sidecar gives to etcd is only known in the pod" {
			t.Errorf("--%s: %q", flag, why)
		}
	}
	if config.Unknown["data-dir"] != "" || config.Unknown["quota-backend-bytes"] != "" {
		t.Errorf("settings that are passed: %q", config.Unknown)
	}
	pod.Spec.Containers[0].Command = []string{"etcd"}
	if config, err = ParsePod(pod, Unread("")); err != nil || config.Launcher != "" || config.Unknown != nil {
		t.Errorf("etcd itself: %+v, %v", config, err)
	}
}

// TestInitialPeers has lists with parts that only the pod knows.
func TestInitialPeers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		list string
		want []Peer
	}{
		{"a=http://a:2380, b=http://b:2380 ", []Peer{{"a", "http://a:2380"}, {"b", "http://b:2380"}}},
		{"a=http://a:2380,$(cat /peers)", []Peer{{"a", "http://a:2380"}}},
		{"$(discover --cacert=/x --data-dir=/d)", nil},
		{"$(discover --of=(b,c=d) --n=a),a=http://a:2380", []Peer{{"a", "http://a:2380"}}},
		{"${LIST:-a=http://a:2380,b=http://b:2380}", nil},
		{"`discover --of=b,c=d`", nil},
		{"$(discover --of=b,c=d with a text that was cut", nil},
		{"$(cat /id)=http://$(hostname -i):2380", []Peer{{"$(cat /id)", "http://$(hostname -i):2380"}}},
		{"${N}=http://${N}:2380,b=http://b:2380?x=(1)", []Peer{{"${N}", "http://${N}:2380"}, {"b", "http://b:2380?x=(1)"}}},
		{"", nil},
		{"\v=,\u00a0$(=)=\u2003", []Peer{{}, {Name: "$(=)"}}},
	} {
		if got := (Config{InitialCluster: row.list}).InitialPeers(); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.list, got, row.want)
		}
	}
}

// TestShownListIsTheRealOne compares what random pods show with what they are when every object is read:
// a list that is known is the real one. A configuration file that only an envFrom names is left out.
func TestShownListIsTheRealOne(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	lists := []string{"", "a=http://a:2380", "a=http://a:2380,b=http://b:2380", "b=http://b:2380,c=http://c:2380"}
	known := 0
	for range 5000 {
		held := map[string][]byte{}
		c := corev1.Container{Name: "etcd", Command: []string{"etcd"}}
		set := func(flag, variable, value string) {
			switch value, own := strings.ReplaceAll(value, "$", "$$"), "OWN_"+variable; random.IntN(6) {
			case 0:
				c.Args = append(c.Args, "--"+flag+"="+value)
			case 1:
				c.Env = append(c.Env, corev1.EnvVar{Name: variable, Value: value})
			case 2:
				held[variable] = []byte(value)
			case 3:
				c.Env, held[own] = append(c.Env, corev1.EnvVar{Name: variable, ValueFrom: ofKey("s", own)}), []byte(value)
			case 4:
				c.Args, held[own] = append(c.Args, "--"+flag+"=$("+own+")"), []byte(value)
			}
		}
		set("name", "ETCD_NAME", "a")
		if list := lists[random.IntN(len(lists))]; list != "" {
			set("initial-cluster", "ETCD_INITIAL_CLUSTER", list)
		}
		if len(held) > 0 || random.IntN(3) == 0 {
			c.EnvFrom = []corev1.EnvFromSource{fromSecret("s", random.IntN(2) == 0)}
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a-0"}, Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
		shown := PeersOfPod(pod)
		if shown.Unknown != "" {
			continue
		}
		known++
		real, err := ParsePod(pod, func(string, string) (map[string][]byte, error) { return held, nil })
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var want []Peer
		if real.Where["initial-cluster"] != "" {
			want = real.InitialPeers()
		}
		if !slices.Equal(shown.Listed, want) {
			t.Fatalf("seed %d: %+v\nshows %v, and is %v", seed, c, shown.Listed, want)
		}
	}
	if known < 100 {
		t.Errorf("only %d lists were known", known)
	}
}

// TestIdentifies has the entries that are those of one member, whichever pod lists them, and others.
func TestIdentifies(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"a", "a-0.a.team.svc", "10.0.0.7", "[fd00::7]", "192.168.1.1", "localhost.example.com"} {
		if e := (Peer{"s1", fmt.Sprintf("http://%s:2380", host)}); !e.Identifies() {
			t.Errorf("%s identifies no member", e)
		}
	}
	for _, host := range []string{
		"localhost", "LOCALHOST", "localhost.", "x.localhost", "localhost.localdomain", "ip6-localhost", "127.0.0.1", "127.8.9.1", "127.1", "0.0.0.0", "0", "[::]", "[::1]",
		"[::ffff:127.0.0.1]", "[fe80::1%25eth0]", "169.254.1.1", "", "$(hostname -i)", "${POD_IP}", "$(POD_IP)", "`hostname`", "%zz",
	} {
		if e := (Peer{"s1", fmt.Sprintf("http://%s:2380", host)}); e.Identifies() {
			t.Errorf("%s identifies a member", e)
		}
	}
	if e := (Peer{"$(hostname)", "http://a:2380"}); e.Identifies() {
		t.Errorf("%s identifies a member", e)
	}
}

// TestOneName has the names of one host in the DNS of a cluster, and those that may be another one's.
func TestOneName(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, url, subdomain, want string }{
		{"its name", "http://a:2380", "", "http://a:2380"},
		{"with the namespace alone, which may be a Service", "http://a.db:2380", "", "http://a.db:2380"},
		{"with the Services' domain", "http://a.db.svc:2380", "", "http://a:2380"},
		{"with the cluster's domain", "http://a.db.svc.cluster.local:2380", "", "http://a:2380"},
		{"with another domain of a cluster", "http://a.db.svc.example.com:2380", "", "http://a:2380"},
		{"with a dot at its end", "http://A.db.svc.cluster.local.:2380", "", "http://a:2380"},
		{"a pod of a Service", "http://a-0.a:2380", "a", "http://a-0.a:2380"},
		{"a pod of a Service, with all of it", "https://a-0.a.db.svc.cluster.local:2380", "a", "https://a-0.a:2380"},
		{"a pod of a Service with the namespace's name", "http://db-0.db:2380", "db", "http://db-0.db:2380"},
		{"the same with all of it", "http://db-0.db.db.svc.cluster.local:2380", "db", "http://db-0.db:2380"},
		{"another namespace", "http://a.other.svc:2380", "", "http://a.other.svc:2380"},
		{"another namespace, without the Services' domain", "http://a.other:2380", "", "http://a.other:2380"},
		{"a host outside of the cluster", "http://db.svc.example.com:2380", "", "http://db.svc.example.com:2380"},
		{"the namespace alone", "http://db:2380", "", "http://db:2380"},
		{"an IPv4 address", "http://10.0.0.1:2380", "", "http://10.0.0.1:2380"},
		{"an IPv6 address", "http://[fd00::1]:2380", "", "http://[fd00::1]:2380"},
		{"without a port", "http://a.db.svc/", "", "http://a"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "db"}, Spec: corev1.PodSpec{Subdomain: row.subdomain, Containers: []corev1.Container{
			{Name: "etcd", Command: []string{"etcd", "--name=a", "--initial-advertise-peer-urls=" + row.url, "--initial-cluster=a=" + row.url}},
		}}}
		got := PeersOfPod(pod)
		if want := []Peer{{"a", row.want}}; !slices.Equal(got.Own, want) || !slices.Equal(got.Listed, want) {
			t.Errorf("%s: %v, listed %v; want %v", row.name, got.Own, got.Listed, want)
		}
	}
}
