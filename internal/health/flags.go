// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// retention returns etcd's auto-compaction-retention of a pod or of a pod template. The error is why it is not known.
func (f *Facts) retention(pod *corev1.Pod) (string, error) {
	const flag = "auto-compaction-retention"
	got, has := f.Serving[pod.Name]
	switch {
	case !has && f.setting(pod, "config-file") != "":
		return "", errors.New("no member runs, and its configuration file " + f.setting(pod, "config-file") + " is not read")
	case !has:
		return f.setting(pod, flag), nil
	case got.Err != nil:
		return "", got.Err
	case got.Value.Unknown[flag] != "":
		return "", errors.New(got.Value.Unknown[flag])
	}
	return got.Value.AutoCompactionRetention, nil
}

// configFile returns the path of etcd's configuration file, empty for none, and the object that has it as far as that is
// known.
func (f *Facts) configFile() (string, etcdconf.Origin) {
	pod := f.member()
	if pod == nil {
		return "", etcdconf.Origin{}
	}
	if got, has := f.Serving[pod.Name]; has && got.Err == nil {
		return got.Value.File, got.Value.FileOrigin
	}
	return f.setting(pod, "config-file"), etcdconf.Origin{}
}

// flagIn is a flag in an order.
var flagIn = regexp.MustCompile(`--[a-z-]+`)

// asSet returns an order to set flags of etcd as they are set now: in the configuration file if there is one, and
// otherwise by the variables that set them. Etcd does not start with a flag and the variable for it.
func (f *Facts) asSet(order string) string {
	file, from := f.configFile()
	if file == "" {
		return flagIn.ReplaceAllStringFunc(order, func(flag string) string {
			where, _ := strings.CutPrefix(f.whereSet(strings.TrimPrefix(flag, "--")), "env ")
			variable, _, _ := strings.Cut(where, " ")
			if !strings.HasPrefix(variable, "ETCD_") {
				return flag
			}
			return variable
		})
	}
	key := ""
	if from.Name != "" {
		key = fmt.Sprintf("key %s of %s %s; ", from.Key, from.Kind, from.Name)
	}
	return order + " in etcd's configuration file " + file + " (" + key + "etcd ignores flags beside it)"
}

// whereSet returns the origin of a setting of the member that is judged, empty for none.
func (f *Facts) whereSet(setting string) string {
	pod := f.member()
	if pod == nil {
		return ""
	}
	return f.Serving[pod.Name].Value.Where[setting]
}

// changeFlags returns how to change flags of etcd. The change restarts the members.
func (f *Facts) changeFlags(order, inFields string, settings ...flavour.Setting) string {
	return f.restarting(f.whenHealthy(f.changeFlag(order, inFields, settings...)))
}

// changeFlag returns how to change a flag of etcd, in the object that has it. A change of the configuration file restarts no member.
func (f *Facts) changeFlag(order, inFields string, settings ...flavour.Setting) string {
	file, from := f.configFile()
	if f.Owner.Product().Fields != nil {
		return f.change(order, inFields, settings...)
	}
	order = f.asSet(order)
	switch {
	case file == "":
		return f.change(order, inFields, settings...)
	case f.rewritten():
		order = f.change(order+",", inFields, settings...)
	case from.Name != "":
		order += ": " + f.kubectl("edit "+strings.ToLower(from.Kind)+" "+from.Name)
	}
	if f.Owner.WithoutStatefulSet() || len(f.Owner.PodsBeside) > 0 {
		return order + ", and then restart the members"
	}
	return order + ", and then " + f.onceReady(f.Command("restart"))
}

// rewritten reports whether the objects that the members' pods read are written by a chart or an operator, as far as
// that is known.
func (f *Facts) rewritten() bool {
	o, w := f.Owner, f.Owner.Membership()
	return o.Values() != "" || o.Controller != nil && owner.GroupOf(o.Controller) != appsv1.GroupName ||
		w.Manager == flavour.ByOperator && w.ManagerName != flavour.Nothing
}
