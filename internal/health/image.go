// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// gone are the registries that no longer have, or no longer get, images of
// etcd, each with its source.
var gone = []struct{ prefix, what, fix string }{
	// https://github.com/bitnami/charts/issues/35164
	{"docker.io/bitnami/", "whose versioned images were removed in 2025", "use docker.io/bitnamilegacy/etcd, which gets no updates, or a mirror of yours"},
	// https://kubernetes.io/blog/2023/03/10/image-registry-redirect/
	{"k8s.gcr.io/", "which has been frozen since 2023", "use registry.k8s.io/etcd"},
}

func imageRegistry(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	image := full(c.Image)
	for _, g := range gone {
		if strings.HasPrefix(image, g.prefix) {
			found = append(found, warning(f.changeImage(g.fix), "image %s is from %s, %s", c.Image, strings.TrimSuffix(g.prefix, "/"), g.what))
		}
	}
	return found
}

// changeImage returns an order to change the image. Members that can't pull the present one get healthy only by the
// change, which then must restart no other member.
func (f *Facts) changeImage(order string) string {
	pods := f.unpulled()
	switch {
	case len(pods) == 0:
		return f.changeTemplate(order, order+" in FIELD", flavour.Image)
	case !f.writable():
		return f.restarting(f.change(order, order+" in FIELD", flavour.Image))
	}
	order = "set the update strategy OnDelete and " + order + ", so that no other pod restarts; " +
		"delete the pods that can't pull their image (" + policy.List(pods) + "), and the others one at a time when all members are healthy"
	return f.restarting(f.change(order, ""))
}

// unpulled returns the pods whose image can't be pulled.
func (f *Facts) unpulled() []string {
	var names []string
	for _, p := range f.partPods() {
		if podstate.Unpulled(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// full returns an image's name with the registry and the folder that docker would
// put before it.
func full(image string) string {
	host, _, has := strings.Cut(image, "/")
	switch {
	case !has:
		return "docker.io/library/" + image
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		return "docker.io/" + image
	}
	return image
}

func imageTag(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	if strings.Contains(c.Image, "@") {
		return nil
	}
	name := c.Image[strings.LastIndex(c.Image, "/")+1:]
	if _, tag, has := strings.Cut(name, ":"); !has || tag == "latest" {
		return []Finding{warning(f.changeTemplate("name a version of the image", "name a version in FIELD", flavour.Image), "image %s names no version: a pod runs the one that is newest when it starts", c.Image)}
	}
	return nil
}
