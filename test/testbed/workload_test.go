// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/pki"
)

func testToken(c cluster) {
	if out := c.probe("whoami"); !strings.Contains(out, "system:serviceaccount:default:default") {
		c.t.Errorf("the API server takes the pod for %s", out)
	}
}

func testDNS(c cluster) {
	address := c.kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
	for _, name := range []string{"web.default.svc.cluster.local", "web"} {
		c.becomes(address, func() string { return c.probe("lookup", name) })
	}
	pod := c.kubectl("get", "pod", "db-1", "-o", "jsonpath={.status.podIP}")
	c.becomes(pod, func() string { return c.probe("lookup", "db-1.db.default.svc.cluster.local") })
}

func testClusterIP(c cluster) {
	reached := func(from string) {
		c.eventually(func() string {
			out, err := c.try("exec", from, "--", "/probe", "get", "http://web/", "40")
			if pods := strings.Fields(out); err != nil || len(pods) != 2 {
				return fmt.Sprintf("40 requests of %s to web, which has 2 pods, reached %q: %v", from, pods, err)
			}
			return ""
		})
	}
	reached("db-0")
	// A pod that calls its own Service is sent to itself, too.
	reached("deployment/web")
}

func testPortForward(c cluster) {
	if out := c.kubectl("logs", "db-1"); out != "serving as db-1" {
		c.t.Errorf("the log of db-1 is %q", out)
	}
	cmd := c.command("port-forward", "pod/db-1", ":8080")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var address string
	if _, err := fmt.Fscanf(out, "Forwarding from %s ->", &address); err != nil {
		c.t.Fatalf("port-forward prints no address: %v", err)
	}
	if body := fetch(c.t, "http://"+address+"/"); body != "db-1\n" {
		c.t.Errorf("by port-forward db-1 answers %q", body)
	}
}

func testReadiness(c cluster) {
	ready := func() string {
		return c.kubectl("get", "endpointslices", "-l", "kubernetes.io/service-name=web", "-o",
			"jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].targetRef.name}")
	}
	c.eventually(func() string {
		if ready() == "" {
			return "web has no endpoint that is ready"
		}
		return ""
	})
	pod := strings.Fields(ready())[0]
	address := c.kubectl("get", "pod", pod, "-o", "jsonpath={.status.podIP}")
	c.probe("get", "http://"+address+":8080/unready", "1")
	c.eventually(func() string {
		if names := ready(); strings.Contains(names, pod) {
			return "endpoints of web are " + names
		}
		return ""
	})
	c.eventually(func() string {
		if pods := c.probe("get", "http://web/", "20"); strings.Contains(pods, pod) {
			return "web still leads to " + pod
		}
		return ""
	})
}

func testVolume(c cluster) {
	c.probe("write", "/data/file", "kept")
	c.kubectl("delete", "pod", "db-0")
	c.kubectl("rollout", "status", "--timeout=10m", "statefulset/db")
	if got := c.probe("read", "/data/file"); got != "kept" {
		c.t.Errorf("after the pod was replaced, its file contains %q", got)
	}
	node := c.kubectl("get", "pod", "db-0", "-o", "jsonpath={.spec.nodeName}")
	zone := c.kubectl("get", "node", node, "-o", `jsonpath={.metadata.labels.topology\.kubernetes\.io/zone}`)
	volume := c.kubectl("get", "pvc", "data-db-0", "-o", "jsonpath={.spec.volumeName}")
	pinned := c.kubectl("get", "pv", volume, "-o", "jsonpath={.spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0]}")
	if want := fmt.Sprintf(`{"key":"topology.kubernetes.io/zone","operator":"In","values":[%q]}`, zone); pinned != want {
		c.t.Errorf("the volume is pinned to %s, the pod runs in %s", pinned, zone)
	}
	path := c.kubectl("get", "pv", volume, "-o", "jsonpath={.spec.local.path}")
	other := c.kubectl("get", "pvc", "data-db-1", "-o", "jsonpath={.spec.volumeName}")
	c.kubectl("delete", "--wait=false", "pvc", "data-db-1")
	c.kubectl("delete", "pod", "db-1")
	c.kubectl("wait", "--for=delete", "--timeout=10m", "pv/"+other)
	c.kubectl("rollout", "status", "--timeout=10m", "statefulset/db")
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "default_data-db-1_*"))
	if err != nil || len(left) != 1 {
		c.t.Errorf("volumes of data-db-1 after it was deleted and made again: %v", left)
	}
}

func testWebhook(c cluster) {
	ca, err := pki.NewAuthority(c.t.TempDir(), "ca")
	if err != nil {
		c.t.Fatal(err)
	}
	if err := ca.Issue("tls", pki.Subject{Name: "refuser", DNS: []string{"refuser.default.svc"}}); err != nil {
		c.t.Fatal(err)
	}
	bundle, err := os.ReadFile(ca.Cert("ca"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.kubectl("create", "secret", "tls", "refuser", "--cert="+ca.Cert("tls"), "--key="+ca.Key("tls"))
	c.apply(strings.ReplaceAll(manifest(c.t, "webhook.yaml"), "CA_BUNDLE", base64.StdEncoding.EncodeToString(bundle)))
	c.kubectl("wait", "--for=condition=Ready", "--timeout=10m", "pod/refuser")
	labelled := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused, labels: {refuse: please}}\n"
	c.eventually(func() string {
		cmd := c.command("create", "-f", "-")
		cmd.Stdin = strings.NewReader(labelled)
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), "refused by the probe") {
			return string(out)
		}
		return ""
	})
}
