// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestWipesOfKnownFolders has pods that delete a folder of which an object, a reference or a mount shows that it
// has etcd's data.
func TestWipesOfKnownFolders(t *testing.T) {
	t.Parallel()
	const (
		config  = `volumes: [{name: c, configMap: {name: config}}, {name: d, emptyDir: {}}], `
		mounts  = `volumeMounts: [{name: c, mountPath: /conf}, {name: d, mountPath: /data}]`
		podName = `{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}`
	)
	for _, row := range []struct {
		id, spec string
		// bare is true if the wipe is found without contents, too.
		wipes, bare bool
	}{
		{id: "WF-1 the configuration file", wipes: true,
			spec: `{` + config + `containers: [{name: db, command: [sh, -c, "rm -rf /data/etcd; exec etcd --config-file /conf/etcd.yaml"], ` + mounts + `}]}`},
		{id: "WF-2 the file's log", wipes: true,
			spec: `{` + config + `containers: [{name: db, command: [sh, -c, "rm -rf /log/etcd/*; exec etcd --config-file /conf/etcd.yaml"], ` + mounts + `}]}`},
		{id: "WF-3 the file by a variable", wipes: true,
			spec: `{` + config + `containers: [{name: db, env: [{name: ETCD_CONFIG_FILE, value: /conf/etcd.yaml}], command: [sh, -c, "find /data/etcd -mindepth 1 -delete; exec etcd"], ` + mounts + `}]}`},
		{id: "WF-4 envFrom", wipes: true,
			spec: `{containers: [{name: db, envFrom: [{configMapRef: {name: env}}], command: [sh, -c, "rm -rf /data/etcd/*; exec etcd"]}]}`},
		{id: "WF-5 envFrom with a prefix", wipes: true,
			spec: `{containers: [{name: db, envFrom: [{prefix: ETCD_, configMapRef: {name: bare}}], command: [sh, -c, "rm -rf /data/etcd/*; exec etcd"]}]}`},
		{id: "WF-6 valueFrom", wipes: true,
			spec: `{containers: [{name: db, env: [{name: ETCD_DATA_DIR, valueFrom: {configMapKeyRef: {name: env, key: ETCD_DATA_DIR}}}], command: [sh, -c, "rm -rf /data/etcd; exec etcd"]}]}`},
		{id: "WF-7 a reference", wipes: true, bare: true,
			spec: `{containers: [{name: db, env: [{name: BASE, value: /data}, {name: ETCD_DATA_DIR, value: $(BASE)/etcd}], command: [sh, -c, "rm -rf /data/etcd; exec etcd"]}]}`},
		{id: "WF-8 a reference in a flag", wipes: true, bare: true,
			spec: `{containers: [{name: db, env: [{name: BASE, value: /data}, {name: AT, value: $(BASE)/etcd}], command: [etcd, --data-dir=$(AT)], lifecycle: {preStop: {exec: {command: [rm, -rf, /data/etcd]}}}}]}`},
		{id: "WF-9 a variable of the container in the script", wipes: true, bare: true,
			spec: `{containers: [{name: db, env: [{name: BASE, value: /data}], command: [sh, -c, "rm -rf /data/etcd; exec etcd --data-dir=${BASE}/etcd"]}]}`},
		{id: "WF-10 one of two ways", wipes: true, bare: true,
			spec: `{containers: [{name: db, env: [{name: BASE, value: /data}], command: [sh, -c, "rm -rf /data/b; if [ -e /x ]; then exec etcd --data-dir=$BASE/a; fi; exec etcd --data-dir=$BASE/b"]}]}`},
		{id: "WF-11 a reference to what only the pod knows", wipes: false,
			spec: `{containers: [{name: db, env: [{name: BASE, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: ETCD_DATA_DIR, value: $(BASE)/etcd}], command: [sh, -c, "rm -rf /data/etcd; exec etcd"]}]}`},
		{id: "WF-12 an init container", wipes: true,
			spec: `{` + config + `initContainers: [{name: clean, command: [sh, -c, "rm -rf /data/etcd"], ` + mounts + `}], containers: [{name: db, command: [etcd, --config-file=/conf/etcd.yaml], ` + mounts + `}]}`},
		{id: "WF-13 a file in a Secret", wipes: true,
			spec: `{volumes: [{name: c, secret: {secretName: config}}], containers: [{name: db, command: [sh, -c, "rm -rf /data/etcd; exec etcd --config-file /conf/etcd.yaml"], volumeMounts: [{name: c, mountPath: /conf}]}]}`},

		// The same volume under another path.
		{id: "WF-14 another mount of the folder", wipes: true, bare: true,
			spec: `{volumes: [{name: d, emptyDir: {}}], initContainers: [{name: clean, command: [sh, -c, "rm -rf /mnt/etcd"], volumeMounts: [{name: d, mountPath: /mnt}]}],
				containers: [{name: db, command: [etcd, --data-dir=/data/etcd], volumeMounts: [{name: d, mountPath: /data}]}]}`},
		{id: "WF-15 a mount of the folder itself", wipes: true, bare: true,
			spec: `{volumes: [{name: d, emptyDir: {}}], initContainers: [{name: clean, command: [sh, -c, "rm -rf /mnt/*"], volumeMounts: [{name: d, mountPath: /mnt, subPath: etcd}]}],
				containers: [{name: db, command: [etcd, --data-dir=/data/etcd], volumeMounts: [{name: d, mountPath: /data}]}]}`},
		{id: "WF-16 a mount of another folder", wipes: false,
			spec: `{volumes: [{name: d, emptyDir: {}}], initContainers: [{name: clean, command: [sh, -c, "rm -rf /mnt/*"], volumeMounts: [{name: d, mountPath: /mnt, subPath: cache}]}],
				containers: [{name: db, command: [etcd, --data-dir=/data/etcd], volumeMounts: [{name: d, mountPath: /data}]}]}`},

		// Folders that have a member's name, wherever they are.
		{id: "WF-17 a member's folder", wipes: true, bare: true,
			spec: `{containers: [{name: db, command: [sh, -c, "rm -rf /data/etcd/member; exec etcd --config-file /conf/etcd.yaml"]}]}`},
		{id: "WF-18 what is in it", wipes: true, bare: true,
			spec: `{containers: [{name: db, command: [sh, -c, "rm -rf /x/member/*; exec etcd $FLAGS"]}]}`},
		{id: "WF-19 etcd's default", wipes: true, bare: true,
			spec: `{containers: [{name: db, workingDir: /data, command: [sh, -c, "rm -rf /data/default.etcd; exec etcd"]}]}`},
		{id: "WF-20 other files", wipes: false,
			spec: `{containers: [{name: db, command: [sh, -c, "rm -rf /data/members /data/member/snap/tmp /x/member-list; exec etcd $FLAGS"]}]}`},
		{id: "WF-21 another folder", wipes: false,
			spec: `{` + config + `containers: [{name: db, command: [sh, -c, "rm -rf /data/cache /data/etcd/lost+found; exec etcd --config-file /conf/etcd.yaml"], ` + mounts + `}]}`},

		// What has the files of a path in each container.
		{id: "WF-22 another volume at the same path", wipes: false,
			spec: `{volumes: [{name: d, emptyDir: {}}, {name: o, emptyDir: {}}], containers: [{name: db, command: [etcd, --data-dir=/data/etcd], volumeMounts: [{name: d, mountPath: /data}]},
				{name: s, command: [sh, -c, "rm -rf /data/* /data/etcd"], volumeMounts: [{name: o, mountPath: /data}]}]}`},
		{id: "WF-23 no volume at the same path", wipes: false,
			spec: `{initContainers: [{name: i, command: [rm, -rf, /data/etcd]}], containers: [{name: db, command: [etcd, --data-dir=/data/etcd], volumeMounts: [{name: d, mountPath: /data}]}]}`},
		{id: "WF-24 the same claim by another volume", wipes: true, bare: true,
			spec: `{volumes: [{name: d, persistentVolumeClaim: {claimName: c}}, {name: o, persistentVolumeClaim: {claimName: c}}],
				containers: [{name: db, command: [etcd, --data-dir=/data/etcd], volumeMounts: [{name: d, mountPath: /data}]}, {name: s, command: [rm, -rf, /o/etcd], volumeMounts: [{name: o, mountPath: /o}]}]}`},
		{id: "WF-25 a folder of the node above it", wipes: true, bare: true,
			spec: `{volumes: [{name: d, hostPath: {path: /var/lib/etcd}}, {name: o, hostPath: {path: /var/lib}}],
				containers: [{name: db, command: [etcd, --data-dir=/data], volumeMounts: [{name: d, mountPath: /data}]}, {name: s, command: [sh, -c, "rm -rf /host/etcd/*"], volumeMounts: [{name: o, mountPath: /host}]}]}`},
		{id: "WF-26 another folder of the node", wipes: false,
			spec: `{volumes: [{name: d, hostPath: {path: /var/lib/etcd}}, {name: o, hostPath: {path: /var/lib/etcd-backup}}],
				containers: [{name: db, command: [etcd, --data-dir=/data], volumeMounts: [{name: d, mountPath: /data}]}, {name: s, command: [sh, -c, "rm -rf /data/*"], volumeMounts: [{name: o, mountPath: /data}]}]}`},
		{id: "WF-27 behind another mount", wipes: false,
			spec: `{containers: [{name: db, command: [etcd, --data-dir=/data/etcd], volumeMounts: [{name: d, mountPath: /data}]},
				{name: s, command: [sh, -c, "rm -rf /data/etcd/*"], volumeMounts: [{name: d, mountPath: /data}, {name: o, mountPath: /data/etcd}]}]}`},
		{id: "WF-28 a volume in the folder", wipes: true, bare: true,
			spec: `{containers: [{name: db, command: [etcd, --data-dir=/data], volumeMounts: [{name: d, mountPath: /data}, {name: w, mountPath: /data/member/wal}]},
				{name: s, command: [sh, -c, "rm -rf /w/*"], volumeMounts: [{name: w, mountPath: /w}]}]}`},
		{id: "WF-29 a volume of others in the folder", wipes: false,
			spec: `{containers: [{name: db, command: [etcd, --data-dir=/data], volumeMounts: [{name: d, mountPath: /data}, {name: w, mountPath: /data/backups}]},
				{name: s, command: [sh, -c, "rm -rf /w/*"], volumeMounts: [{name: w, mountPath: /w}]}]}`},
		{id: "WF-30 the path of a pod in a volume", wipes: true, bare: true,
			spec: `{initContainers: [{name: i, env: [` + podName + `], command: [sh, -c, "rm -rf /all/$POD"], volumeMounts: [{name: d, mountPath: /all}]}],
				containers: [{name: db, env: [` + podName + `], command: [etcd, --data-dir=/data], volumeMounts: [{name: d, mountPath: /data, subPathExpr: $(POD)}]}]}`},
		{id: "WF-31 the path of a pod by another name", wipes: true, bare: true,
			spec: `{initContainers: [{name: i, env: [` + podName + `, {name: M, value: $(POD)}], command: [sh, -c, "rm -rf /mine/*"], volumeMounts: [{name: d, mountPath: /mine, subPathExpr: $(M)}]}],
				containers: [{name: db, env: [` + podName + `], command: [etcd, --data-dir=/data], volumeMounts: [{name: d, mountPath: /data, subPathExpr: $(POD)}]}]}`},
		{id: "WF-32 another path in a volume", wipes: false,
			spec: `{initContainers: [{name: i, env: [` + podName + `], command: [sh, -c, "rm -rf /data/* /all/cache"], volumeMounts: [{name: d, mountPath: /data, subPathExpr: cache-$(POD)}, {name: d, mountPath: /all}]}],
				containers: [{name: db, env: [` + podName + `], command: [etcd, --data-dir=/data], volumeMounts: [{name: d, mountPath: /data, subPathExpr: $(POD)}]}]}`},
		{id: "WF-33 a folder called after a pod that has no name yet", wipes: false,
			spec: `{containers: [{name: db, env: [` + podName + `], command: [sh, -c, "rm -rf /data/wal; exec etcd --data-dir=/data/$POD"]}]}`},

		// What only the pod knows, as it is written.
		{id: "WF-34 a variable of a Secret", wipes: true, bare: true,
			spec: `{containers: [{name: db, env: [{name: POD, valueFrom: {secretKeyRef: {name: s, key: k}}}], command: [etcd, --data-dir=/data/$(POD)], lifecycle: {preStop: {exec: {command: [sh, -c, "rm -rf /data/$POD"]}}}}]}`},
		{id: "WF-35 all of it", wipes: true, bare: true,
			spec: `{containers: [{name: db, command: [sh, -c, "X=$(choose); rm -rf \"$X/etcd\"; exec etcd --data-dir=$X/etcd"]}]}`},
		{id: "WF-36 another variable", wipes: false,
			spec: `{containers: [{name: db, command: [sh, -c, "X=$(choose); rm -rf \"$Y/etcd\"; exec etcd --data-dir=$X/etcd"]}]}`},
	} {
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict([]byte(row.spec), &pod.Spec); err != nil {
			t.Fatalf("%s: %v", row.id, err)
		}
		if got := wipesData(MemberChanges(pod, folderContents)); got != row.wipes {
			t.Errorf("%s: wipes %t, want %t", row.id, got, row.wipes)
		}
		if got := wipesData(MemberChanges(pod, nil)); got != row.bare {
			t.Errorf("%s: without contents, wipes %t, want %t", row.id, got, row.bare)
		}
	}
}

func wipesData(changes []MemberChange) bool {
	for _, c := range changes {
		if c.Verb == "" && c.Unread == "" {
			return true
		}
	}
	return false
}

// folderContents has a configuration file, and variables that name a folder.
func folderContents(kind, name string) (map[string][]byte, error) {
	file := map[string][]byte{"etcd.yaml": []byte("data-dir: /data/etcd\nwal-dir: /log/etcd\n")}
	switch kind + " " + name {
	case "ConfigMap config", "Secret config":
		return file, nil
	case "ConfigMap env":
		return map[string][]byte{"ETCD_DATA_DIR": []byte("/data/etcd")}, nil
	case "ConfigMap bare":
		return map[string][]byte{"DATA_DIR": []byte("/data/etcd")}, nil
	}
	return nil, &MissingError{Kind: kind, Namespace: "n", Name: name}
}
