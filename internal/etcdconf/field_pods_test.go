// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

const (
	someWays   = "only some ways of its script run etcd"
	onlyInPod  = "its script executes a program that only the pod knows, and it may be etcd"
	twoMembers = "{a http://a:2380} {b http://b:2380}"
)

type fieldPod struct {
	id, spec string
	want     seen
}

var fieldPods = []fieldPod{
	// Processes of a script.
	{"FP-1 a trap, and a wait for etcd", `{containers: [{name: etcd, command: [sh, -c, "trap 'kill $P; wait $P' TERM\netcd --name a &\nP=$!\nwait $P"]}]}`,
		seen{evidence: Shown, member: "etcd"}},
	{"FP-2 a backup in the background", `{containers: [{name: etcd, command: [sh, -c, "while true; do sleep 60; etcdctl snapshot save /b; done &\nexec etcd --name a"]}]}`,
		seen{evidence: Shown, member: "etcd"}},
	{"FP-3 a loop in the background, for which the script waits", `{containers: [{name: etcd, command: [sh, -c, "while true; do sleep 60; done & wait\nexec etcd --name a"]}]}`,
		seen{evidence: Hinted, mentions: someWays}},
	{"FP-4 etcd for a preparation, which is killed", `{containers: [{name: app, command: [sh, -c, "etcd --name a & P=$!; migrate; kill $P; exec /app"]}]}`,
		seen{evidence: Hinted, mentions: someWays}},
	{"FP-5 the same in a subshell", `{containers: [{name: app, command: [sh, -c, "(etcd --name a & sleep 5; kill $!); exec /app"]}]}`,
		seen{evidence: Hinted, mentions: someWays}},
	{"FP-6 etcd for a time, and another program", `{containers: [{name: app, command: [sh, -c, "timeout 30 etcd --name a; exec /app"]}]}`,
		seen{evidence: Hinted, mentions: someWays}},
	{"FP-7 etcd for a time, and etcd", `{containers: [{name: db, command: [sh, -c, "timeout 30 etcd --name a --force-new-cluster; exec etcd --name a"]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-8 a sleep without an end before it", `{containers: [{name: db, command: [sh, -c, "sleep infinity; etcd --name a"]}]}`,
		seen{evidence: Hinted, mentions: someWays}},
	{"FP-9 a file that is followed before it", `{containers: [{name: db, command: [sh, -c, "tail -f /dev/null && etcd --name a"]}]}`,
		seen{evidence: Hinted, mentions: someWays}},
	{"FP-10 a sleep without an end on one way", `{containers: [{name: db, command: [sh, -c, "test -n \"$DEBUG\" && sleep infinity; exec etcd --name a"]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-11 a sleep without an end in the background", `{containers: [{name: db, command: [sh, -c, "sleep infinity & exec etcd --name a"]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-12 exec in a condition", `{containers: [{name: db, command: [sh, -c, "if exec etcd --name a; then echo; fi"]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-13 a subshell in another folder", `{containers: [{name: db, command: [sh, -c, "(cd /data && exec etcd --name a)"]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-14 a log that is followed", `{containers: [{name: db, command: [sh, -c, "nohup etcd --name a >/log 2>&1 & tail -f /log"]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-15 a process that is awaited by kill -0", `{containers: [{name: db, command: [sh, -c, "etcd --name a & while kill -0 $!; do sleep 5; done"]}]}`,
		seen{evidence: Shown, member: "db"}},

	// Texts that a script writes.
	{"FP-16 a script in a here-document that is executed", `{containers: [{name: db, command: [sh, -c, "cat > /run.sh <<'E'\nexec etcd --name a\nE\nchmod +x /run.sh\nexec /run.sh"]}]}`,
		seen{evidence: Hinted, mentions: onlyInPod}},
	{"FP-17 a here-document for a shell", `{containers: [{name: db, command: [sh, -c, "exec sh <<'E'\nexec etcd --name a\nE\n"]}]}`,
		seen{evidence: Hinted, mentions: onlyInPod}},
	{"FP-18 a here-document that is printed", `{containers: [{name: app, command: [sh, -c, "cat <<'E'\nexec etcd --name a\nE\nexec /app"]}]}`,
		seen{}},
	{"FP-19 a here-document that is written for others", `{containers: [{name: app, command: [sh, -c, "cat > /shared/run.sh <<'E'\nexec etcd --name a\nE\nexec /app"]}]}`,
		seen{}},
	{"FP-20 a configuration in a here-document", `{containers: [{name: db, command: [sh, -c, "cat > /e.yaml <<E\nname: a\nE\nexec etcd --config-file /e.yaml"]}]}`,
		seen{evidence: Shown, member: "db", unknown: "configuration of etcd: file /e.yaml"}},

	// Mounted scripts and environments.
	{"FP-21 a script that sources another one", `{volumes: [{name: s, configMap: {name: scripts}}], containers: [{name: db, command: [/scripts/start.sh],
		ports: [{containerPort: 2379}], volumeMounts: [{name: s, mountPath: /scripts}]}]}`,
		seen{evidence: Shown, member: "db", unknown: "no container runs etcd", mentions: "port 2379"}},
	{"FP-22 a script by its subPath", `{volumes: [{name: s, configMap: {name: scripts}}], containers: [{name: db, command: [bash, /opt/run],
		ports: [{containerPort: 2380}], volumeMounts: [{name: s, mountPath: /opt/run, subPath: plain}]}]}`,
		seen{evidence: Shown, member: "db", unknown: "no container runs etcd", mentions: "port 2380"}},
	{"FP-23 the program in envFrom", `{containers: [{name: db, command: [sh, -c, "exec $BIN --name a"], ports: [{containerPort: 2380}], envFrom: [{configMapRef: {name: environment}}]}]}`,
		seen{evidence: Shown, member: "db", unknown: "no container runs etcd", mentions: "port 2380"}},
	{"FP-24 envFrom with a prefix", `{containers: [{name: db, image: etcd, envFrom: [{prefix: ETCD_, configMapRef: {name: environment}}]}]}`,
		seen{mentions: "image etcd"}},

	// What the image or another program decides.
	{"FP-25 a backup of which etcd is the argument", `{containers: [{name: backup, image: "acme/backup:1", args: [etcd, --bucket=b, --data-dir=/d, --name=x]}]}`,
		seen{evidence: Hinted, mentions: "its first argument is etcd, and the image decides what it executes"}},
	{"FP-26 etcd's image with etcd as the argument", `{containers: [{name: db, image: "quay.io/coreos/etcd@sha256:e3b0c442", args: [etcd, --name=a]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-27 an argument etcd with a member's flag", `{containers: [{name: db, image: "acme/db:1", args: [etcd, --name=a, "--initial-cluster=a=http://a:2380,b=http://b:2380"]}]}`,
		seen{evidence: Shown, member: "db", own: "{a http://a:2380}", peers: twoMembers}},
	{"FP-28 a shell in the arguments alone", `{containers: [{name: db, image: "acme/db:1", args: [sh, -c, exec etcd --name a]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-29 a program of another name with a member's flags", `{containers: [{name: db, command: [/opt/etcd-3.5, "--listen-peer-urls=http://0.0.0.0:2380"]}]}`,
		seen{evidence: Hinted, mentions: "its command is /opt/etcd-3.5"}},
	{"FP-30 etcd as a proxy of members", `{containers: [{name: proxy, image: "quay.io/coreos/etcd:v3.5.9", command: [etcd, --proxy=on, "--initial-cluster=a=http://a:2380"]}]}`,
		seen{}},
	{"FP-31 the same by a variable", `{containers: [{name: proxy, command: [etcd], env: [{name: ETCD_PROXY, value: readonly}]}]}`,
		seen{}},
	{"FP-32 a proxy that is off", `{containers: [{name: db, command: [etcd, --proxy, "off"]}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-33 etcd for Windows", `{os: {name: windows}, containers: [{name: db, command: ['C:\etcd\ETCD.exe', --name=a]}]}`,
		seen{evidence: Hinted, mentions: `its command is C:\etcd\ETCD.exe`}},
	{"FP-34 a shell of Windows", `{containers: [{name: db, command: [cmd, /C, 'C:\etcd\etcd.exe --name a']}]}`,
		seen{evidence: Hinted, mentions: "its command is cmd"}},
	{"FP-35 a shell of Windows with a client", `{containers: [{name: app, command: [powershell, -Command, 'C:\app.exe --store C:\etcd\data']}]}`,
		seen{}},
	{"FP-36 ksh", `{containers: [{name: db, command: [ksh, -c, exec etcd --name a]}]}`, seen{evidence: Shown, member: "db"}},
	{"FP-37 zsh, which splits otherwise", `{containers: [{name: db, command: [/bin/zsh, -c, exec etcd --name a]}]}`, seen{evidence: Hinted, mentions: "its command is /bin/zsh"}},
	{"FP-38 an image without a name", `{containers: [{name: etcd, image: "sha256:e3b0c442"}]}`, seen{}},

	// Several containers.
	{"FP-39 a backup beside etcd, with a member's variables", `{containers: [
		{name: backup, image: etcd, command: [sh, -c, "while true; do etcdctl snapshot save /b; sleep 60; done"], env: [{name: ETCD_DATA_DIR, value: /d}, {name: ETCD_LISTEN_PEER_URLS, value: x}]},
		{name: db, image: etcd, command: [etcd], args: [--name=a, "--initial-cluster=$(PEERS)"], env: [{name: H, value: "http://"}, {name: PEERS, value: "a=$(H)a:2380,b=$(H)b:2380"}]}]}`,
		seen{evidence: Shown, member: "db", own: "{a http://a:2380}", peers: twoMembers}},
	{"FP-40 references that nothing defines", `{containers: [{name: db, command: [etcd, "--name=a", "--initial-cluster=$(NONE)"]}]}`,
		seen{evidence: Shown, member: "db", unknown: "only known in the pod: $(NONE)"}},

	// Lists.
	{"FP-41 IPv6", `{containers: [{name: db, command: [etcd, --name=a, "--initial-advertise-peer-urls=http://[fd00::1]:2380", "--initial-cluster=a=http://[FD00:0::1]:2380,b=http://[fd00::2]:2380"]}]}`,
		seen{evidence: Shown, member: "db", own: "{a http://[fd00::1]:2380}", peers: "{a http://[fd00::1]:2380} {b http://[fd00::2]:2380}"}},
	{"FP-42 capitals and final dots", `{containers: [{name: db, command: [etcd, --name=a, "--initial-advertise-peer-urls=HTTP://A.:2380", "--initial-cluster=a=http://a:2380,b=http://B.:2380"]}]}`,
		seen{evidence: Shown, member: "db", own: "{a http://a:2380}", peers: twoMembers}},
	{"FP-43 no ports", `{containers: [{name: db, command: [etcd, --name=a, "--initial-cluster=a=http://A,b=http://[FD00::0]"]}]}`,
		seen{evidence: Shown, member: "db", own: "{a http://a}", peers: "{a http://a} {b http://[fd00::]}"}},
	{"FP-44 spaces and a comma at the end", `{containers: [{name: db, command: [etcd, --name=a, "--initial-cluster= a=http://a:2380, b=http://b:2380 ,"]}]}`,
		seen{evidence: Shown, member: "db", own: "{a http://a:2380}", peers: twoMembers}},
	{"FP-45 a name in capitals", `{containers: [{name: db, command: [etcd, --name=A, "--initial-cluster=a=http://a:2380,b=http://b:2380"]}]}`,
		seen{evidence: Shown, member: "db", peers: twoMembers, unknown: "does not name the member itself, A"}},
	{"FP-46 the address of a node that is not known yet", `{hostNetwork: true, nodeName: a, containers: [{name: db, command: [sh, -c, 'exec etcd --name $(hostname) --initial-advertise-peer-urls http://$IP:2380 --initial-cluster "$PEERS"'],
		env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}, {name: PEERS, value: "a=http://a:2380,b=http://b:2380"}]}]}`,
		seen{evidence: Shown, member: "db", own: "{a http://:2380}", peers: twoMembers}},
	{"FP-47 a list that a loop makes", `{containers: [{name: db, command: [bash, -c, 'for i in 0 1; do P="$P,db-$i=http://db-$i:2380"; done; exec etcd --name $HOSTNAME --initial-cluster ${P#,}']}]}`,
		seen{evidence: Shown, member: "db", unknown: "only known in the pod: ${P#,}"}},

	// What a script does to members.
	{"FP-48 substitutions as arguments", `{containers: [{name: db, command: [sh, -c, 'mkdir -p $(dirname /data/etcd); prepare "$(cat /x y)"; exec etcd --name a']}]}`,
		seen{evidence: Shown, member: "db"}},
	{"FP-49 a change in a substitution", `{containers: [{name: db, command: [sh, -c, 'prepare "$(etcdctl member add a b)"; exec etcd --name a']}]}`,
		seen{evidence: Shown, member: "db", changes: "add;"}},
	{"FP-50 a substitution that a shell executes", `{containers: [{name: db, command: [sh, -c, 'sh -c "$(cat /x y)"; exec etcd --name a']}]}`,
		seen{evidence: Shown, member: "db", changes: "it executes a text that is only known in the pod: $(cat /x y);"}},
	{"FP-51 a hook that promotes", `{containers: [{name: db, command: [etcd, --name=a], lifecycle: {postStart: {exec: {command: [sh, -c, 'etcdctl member promote $(etcdctl member list | head -1)']}}}}]}`,
		seen{evidence: Shown, member: "db", changes: "postStartpromote;"}},
	{"FP-52 an init container that restores", `{initContainers: [{name: restore, command: [sh, -c, "rm -rf /data/*; etcdutl snapshot restore /b --data-dir /data"]}],
		containers: [{name: db, command: [etcd, --data-dir=/data]}]}`,
		seen{evidence: Shown, member: "db", changes: ";"}},
}
