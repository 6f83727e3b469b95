// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestReplaced: a path of etcd is the container's own only where nothing before etcd gives it another root, links or mounts.
func TestReplaced(t *testing.T) {
	t.Parallel()
	const etcd = "etcd --data-dir=/var/lib/etcd --cert-file=/tls/crt"
	argv := strings.ReplaceAll(etcd, " ", ", ")
	for _, row := range []struct{ name, container, data, cert string }{
		{"etcd itself", "command: [" + argv + "]", "", ""},
		{"another root", "command: [chroot, /host, " + argv + "]", "chroot", "chroot"},
		{"another root of a shell", "command: [chroot, /host, sh, -c, 'exec " + etcd + "']", "chroot", "chroot"},
		{"another root in a script", "command: [sh, -c, 'exec chroot /host " + etcd + "']", "chroot", "chroot"},
		{"another root of a shell in a script", `command: [sh, -c, 'exec chroot /host sh -c "exec ` + etcd + `"']`, "chroot", "chroot"},
		{"another root of something else", "command: [sh, -c, 'chroot /host sysctl -p; exec " + etcd + "']", "", ""},
		{"another mount namespace", "command: [nsenter, -t, '1', -m, --, " + argv + "]", "nsenter", "nsenter"},
		{"all namespaces", "command: [nsenter, --target=1, --all, " + argv + "]", "nsenter", "nsenter"},
		{"another network", "command: [nsenter, -t, '1', -n, " + argv + "]", "", ""},
		{"a new root", "command: [unshare, -R, /host, " + argv + "]", "unshare", "unshare"},
		{"mounts of its own", "command: [unshare, -m, sh, -c, 'exec " + etcd + "']", "unshare", "unshare"},
		{"a new user namespace", "command: [unshare, -U, " + argv + "]", "", ""},
		{"a root of sudo", "command: [sudo, -R, /host, " + argv + "]", "sudo", "sudo"},
		{"a link", "command: [sh, -c, 'ln -sfn /pv/data /var/lib/etcd; exec " + etcd + "']", "ln", ""},
		{"a link above it", "command: [sh, -c, 'rmdir /var/lib && ln -s /pv/lib /var/lib; exec " + etcd + "']", "ln", ""},
		{"a link in it", "command: [sh, -c, 'ln -s /pv/member /var/lib/etcd/; exec " + etcd + "']", "ln", ""},
		{"a link elsewhere", "command: [sh, -c, 'ln -sf /dev/stdout /var/log/etcd.log; exec " + etcd + "']", "", ""},
		{"a link in a working directory", "command: [sh, -c, 'cd /var/lib; ln -s /pv/etcd; exec " + etcd + "']", "ln", "ln"},
		{"a relative link", "command: [sh, -c, 'cd /var/lib; ln -s /pv/data etcd; exec " + etcd + "']", "ln", "ln"},
		{"a link to a folder", "command: [sh, -c, 'ln -s -t /var/lib /pv/etcd; exec " + etcd + "']", "ln", "ln"},
		{"a link with a variable", "command: [sh, -c, 'ln -s /pv/data $WHERE; exec " + etcd + "']", "ln", "ln"},
		{"a link in a function", "command: [sh, -c, 'f() { ln -s /pv/data /var/lib/etcd; }; f; exec " + etcd + "']", "ln", ""},
		{"a link of busybox", "command: [sh, -c, 'busybox ln -s /pv/data /var/lib/etcd; exec " + etcd + "']", "ln", ""},
		{"a function that is called ln", "command: [sh, -c, 'ln() { :; }; ln -s /pv/data /var/lib/etcd; exec " + etcd + "']", "", ""},
		{"a text about ln", "command: [sh, -c, 'echo ln -s /pv/data /var/lib/etcd; exec " + etcd + "']", "", ""},
		{"a bind mount", "command: [sh, -c, 'mount --bind /pv/data /var/lib/etcd; " + etcd + "']", "mount", ""},
		{"a mount of NFS", "command: [sh, -c, 'mount -t nfs srv:/x /var/lib/etcd && exec " + etcd + "']", "mount", ""},
		{"a mount of a program", "command: [sh, -c, 'mount.nfs srv:/x /var/lib/etcd && exec " + etcd + "']", "mount.nfs", ""},
		{"all mounts", "command: [sh, -c, 'mount -a; exec " + etcd + "']", "mount", "mount"},
		{"a list of mounts", "command: [sh, -c, 'mount | grep etcd; exec " + etcd + "']", "", ""},
		{"a mount that is changed", "command: [sh, -c, 'mount -o remount,rw /var/lib/etcd; exec " + etcd + "']", "", ""},
		{"a mount that is removed", "command: [sh, -c, 'umount /var/lib/etcd; exec " + etcd + "']", "umount", ""},
		{"the root is moved", "command: [sh, -c, 'pivot_root /new /new/old; exec " + etcd + "']", "pivot_root", "pivot_root"},
		{"copies", "command: [sh, -c, 'cp -r /pv/data /var/lib/etcd; exec " + etcd + "']", "", ""},
		{"copies that are links", "command: [sh, -c, 'cp -rs /pv/data /var/lib/etcd; exec " + etcd + "']", "cp", ""},
		{"files are moved", "command: [sh, -c, 'mv /var/lib/new /var/lib/etcd; exec " + etcd + "']", "", ""},
		{"a block device", "command: [" + argv + "], volumeDevices: [{name: data, devicePath: /dev/blk}]", "block device", "block device"},
	} {
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict([]byte("{containers: [{name: etcd, "+row.container+"}]}"), &pod.Spec); err != nil {
			t.Fatal(row.name, err)
		}
		c, err := ParsePod(pod, nil)
		if err != nil {
			t.Error(row.name, err)
		}
		for flag, want := range map[string]string{"data-dir": row.data, "cert-file": row.cert} {
			if got := c.Unknown[flag]; (got == "") != (want == "") || !strings.HasPrefix(strings.TrimPrefix(got, "a mount of a "), want) {
				t.Errorf("%s: %s is %q, unknown because %q; want %q", row.name, flag, c.DataDir, got, want)
			}
		}
	}
}

// TestReplacedFile: a configuration file behind another root is not the container's.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "etcd", Command: []string{"chroot", "/host", "etcd", "--config-file=/etc/etcd.yaml"},
		VolumeMounts: []corev1.VolumeMount{{Name: "conf", MountPath: "/etc"}},
	}}, Volumes: []corev1.Volume{{Name: "conf", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}},
	}}}}}
	_, err := ParsePod(pod, func(string, string) (map[string][]byte, error) {
		return map[string][]byte{"etcd.yaml": []byte("name: a")}, nil
	})
	var unreadable *UnreadableError
	if !errors.As(err, &unreadable) || unreadable.Path != "/etc/etcd.yaml" {
		t.Errorf("%v, want an unreadable file", err)
	}
}
