// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// rightsFile lists every permission that the default overlay grants, and what uses it.
//
//go:embed testdata/rights.txt
var rightsFile string

// right is one verb on one resource, as in "get etcds.druid.gardener.cloud". It applies to all
// namespaces, or only to etcd-webhook's own namespace.
type right struct {
	verb, resource string
	own            bool
}

func (r right) String() string {
	text := r.verb + " " + r.resource
	if r.own {
		text += " in its own namespace"
	}
	return text
}

// listedRights returns the permissions of rightsFile that the tests of a package use, or all
// permissions if by is empty.
func listedRights(by string) []right {
	var all []right
	for line := range strings.Lines(rightsFile) {
		fields := strings.Fields(line)
		if len(fields) >= 3 && fields[0] != "#" && (by == "" || fields[0] == by) {
			all = append(all, right{verb: fields[1], resource: fields[2], own: len(fields) > 3})
		}
	}
	return all
}

// UsedRights returns the permissions that etcd-webhook has used on a testbed so far.
func UsedRights(tb *testbed.Testbed) ([]string, error) {
	used, _, err := auditedRights(tb.AuditLog())
	var all []string
	for _, r := range used {
		all = append(all, r.String())
	}
	return all, err
}

// NoneForbidden checks, after all tests of a package, that etcd-webhook tried nothing that the manifests
// don't grant. What they do grant is denied for a moment while tests install and uninstall it.
func NoneForbidden(tb *testbed.Testbed) error {
	_, forbidden, err := auditedRights(tb.AuditLog())
	granted := listedRights("")
	lacks := slices.DeleteFunc(forbidden, func(r right) bool { return slices.Contains(granted, r) })
	if err == nil && len(lacks) > 0 {
		err = fmt.Errorf("etcd-webhook lacks these permissions: %v", lacks)
	}
	return err
}

// RightsUsed checks, after all tests of a package ("e2e" or "install"), whether etcd-webhook
// used every permission that these tests should cover. If it didn't use one, remove the
// permission from the manifests, or add a test.
func RightsUsed(by string) func(*testbed.Testbed) error {
	return func(tb *testbed.Testbed) error {
		used, err := UsedRights(tb)
		if err != nil {
			return fmt.Errorf("read the used permissions: %w", err)
		}
		var unused []string
		for _, r := range listedRights(by) {
			if !slices.Contains(used, r.String()) {
				unused = append(unused, r.String())
			}
		}
		if len(unused) > 0 {
			return fmt.Errorf("etcd-webhook didn't use these permissions: %s", strings.Join(unused, ", "))
		}
		return nil
	}
}

// auditedRights returns the permissions of the requests that the API server logged and allowed, and
// of those that it did not authorize. A permission for all namespaces is used by a request for another
// namespace or for no namespace.
func auditedRights(auditLog string) (used, forbidden []right, err error) {
	f, err := os.Open(auditLog) //nolint:gosec // the testbed's own file
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb           string
			Annotations    map[string]string
			ObjectRef      struct{ APIGroup, Resource, Subresource, Namespace string }
			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, nil, err
		}
		ref := event.ObjectRef
		r := right{verb: event.Verb, resource: resourceName(ref.APIGroup, ref.Resource, ref.Subresource), own: ref.Namespace == Namespace}
		switch {
		case event.Annotations["authorization.k8s.io/decision"] == "forbid":
			if !slices.Contains(forbidden, r) {
				forbidden = append(forbidden, r)
			}
			continue
		case event.ResponseStatus.Code == http.StatusForbidden:
			continue
		}
		if !slices.Contains(used, r) {
			used = append(used, r)
		}
		// If the API server doesn't support streaming lists, a client lists before it watches.
		if list := (right{verb: "list", resource: r.resource, own: r.own}); r.verb == "watch" && !slices.Contains(used, list) {
			used = append(used, list)
		}
	}
	return used, forbidden, lines.Err()
}

// resourceName returns the name of a resource as kubectl writes it.
func resourceName(group, resource, sub string) string {
	if group != "" {
		resource += "." + group
	}
	if sub != "" {
		resource += "/" + sub
	}
	return resource
}

// grantedRights returns the permissions of the Roles and ClusterRoles among manifests, without
// duplicates.
func grantedRights(objects []map[string]any) ([]right, error) {
	var all []right
	for _, o := range objects {
		if kind := o["kind"]; kind != "Role" && kind != "ClusterRole" {
			continue
		}
		text, err := json.Marshal(o["rules"])
		if err != nil {
			return nil, err
		}
		var rules []struct{ APIGroups, Resources, Verbs, NonResourceURLs []string }
		if err := json.Unmarshal(text, &rules); err != nil {
			return nil, err
		}
		for _, rule := range rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					resource, sub, _ := strings.Cut(resource, "/")
					for _, verb := range rule.Verbs {
						if r := (right{verb: verb, resource: resourceName(group, resource, sub), own: o["kind"] == "Role"}); !slices.Contains(all, r) {
							all = append(all, r)
						}
					}
				}
			}
			for _, url := range rule.NonResourceURLs {
				all = append(all, right{verb: "get", resource: url})
			}
		}
	}
	return all, nil
}
