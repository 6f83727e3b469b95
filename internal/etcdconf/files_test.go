// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"
	"testing"
)

const filesPod = `
apiVersion: v1
kind: Pod
metadata: {name: a-0, namespace: shop}
spec:
  containers:
  - name: etcd
    env: [{name: ME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
    volumeMounts:
    - {name: secret, mountPath: /etc/tls/}
    - {name: items, mountPath: /etc/tls/deep}
    - {name: sub, mountPath: /etc/one.crt, subPath: tls.crt}
    - {name: items, mountPath: /etc/sub, subPath: d}
    - {name: expr, mountPath: /etc/mine, subPathExpr: $(ME)}
    - {name: projected, mountPath: /p}
    - {name: config, mountPath: /c}
    - {name: node, mountPath: /node}
    - {name: csi, mountPath: /csi}
    - {name: empty, mountPath: /empty}
    - {name: claim, mountPath: /claim}
    - {name: optional, mountPath: /optional}
    - {name: gone, mountPath: /gone}
  volumes:
  - {name: secret, secret: {secretName: s}}
  - {name: items, secret: {secretName: s, items: [{key: tls.crt, path: d/server.pem}]}}
  - {name: sub, secret: {secretName: s}}
  - {name: expr, secret: {secretName: each, items: [{key: a, path: a-0/tls.crt}]}}
  - name: projected
    projected:
      sources:
      - secret: {name: s, items: [{key: tls.crt, path: server.crt}]}
      - configMap: {name: m}
      - downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}
  - {name: config, configMap: {name: m}}
  - {name: node, hostPath: {path: /etc/kubernetes/pki}}
  - {name: csi, csi: {driver: csi.cert-manager.io}}
  - {name: empty, emptyDir: {}}
  - {name: claim, persistentVolumeClaim: {claimName: data-a-0}}
  - {name: optional, secret: {secretName: none, optional: true}}
  - {name: gone, secret: {secretName: none}}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: shop}
stringData: {tls.crt: cert, tls.key: key, ca.crt: ca}
---
apiVersion: v1
kind: Secret
metadata: {name: each, namespace: shop}
stringData: {a: mine}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m, namespace: shop}
data: {ca.crt: ca of m}
`

func TestReadFile(t *testing.T) {
	t.Parallel()
	pod, contents := parseObjects(t, []byte(filesPod))
	for _, row := range []struct{ path, want, err string }{
		{path: "/etc/tls/tls.crt", want: "cert"},
		{path: "/etc//tls/./tls.crt", want: "cert"},
		{path: "/etc/tls/deep/d/server.pem", want: "cert"},
		{path: "/etc/one.crt", want: "cert"},
		{path: "/etc/sub/server.pem", want: "cert"},
		{path: "/etc/mine/tls.crt", want: "mine"},
		{path: "/p/server.crt", want: "cert"},
		{path: "/p/ca.crt", want: "ca of m"},
		{path: "/c/ca.crt", want: "ca of m"},

		{path: "/etc/tls/none.crt", err: `Secret shop/s has no key "none.crt"`},
		{path: "/etc/tls/deep/tls.crt", err: "file /etc/tls/deep/tls.crt of pod shop/a-0 is on volume items, which has no file of that name, not in a Secret or ConfigMap"},
		{path: "/etc/tlsx/tls.crt", err: "file /etc/tlsx/tls.crt of pod shop/a-0 is in the image of container etcd or written by it, not in a Secret or ConfigMap"},
		{path: "/p/name", err: "file /p/name of pod shop/a-0 is on volume projected, which has no file of that name, not in a Secret or ConfigMap"},
		{path: "/node/ca.crt", err: "file /node/ca.crt of pod shop/a-0 is on its node below /etc/kubernetes/pki (hostPath), not in a Secret or ConfigMap"},
		{path: "/csi/ca.crt", err: "file /csi/ca.crt of pod shop/a-0 is made by the CSI driver csi.cert-manager.io, not in a Secret or ConfigMap"},
		{path: "/empty/ca.crt", err: "file /empty/ca.crt of pod shop/a-0 is written by a container of the pod into volume empty (emptyDir), not in a Secret or ConfigMap"},
		{path: "/claim/ca.crt", err: "file /claim/ca.crt of pod shop/a-0 is on the claim data-a-0, not in a Secret or ConfigMap"},
		{path: "/optional/ca.crt", err: "file /optional/ca.crt of pod shop/a-0 is on volume optional, which has no file of that name, not in a Secret or ConfigMap"},
		{path: "/gone/ca.crt", err: "Secret shop/none does not exist"},
	} {
		t.Run(row.path, func(t *testing.T) {
			t.Parallel()
			got, _, err := ReadFile(pod, "etcd", row.path, contents)
			if string(got) != row.want || (err == nil) != (row.err == "") || err != nil && err.Error() != row.err {
				t.Errorf("%q, error %v; want %q, error %s", got, err, row.want, row.err)
			}
			var missing *MissingError
			var unreadable *UnreadableError
			if err != nil && !errors.As(err, &missing) && !errors.As(err, &unreadable) {
				t.Errorf("error %T is of no kind that a caller knows", err)
			}
		})
	}
}
