// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// Disarming disarms the alarms of a cluster whose cause no longer exists.
type Disarming struct {
	Members *etcd.Cluster
	// Cluster is its name in messages.
	Cluster string
	// Facts name the cluster in commands.
	Facts policy.Cluster
	Clock clock.Clock
	// Comparing is called before the voters compare their data, which takes a while.
	Comparing func()

	survey etcd.Survey
	// may has the alarms that may be disarmed. stay has a reason for each of the others.
	may  []etcd.Alarm
	stay []string
}

// Judge evaluates the rules for each alarm alone, because one alarm must not keep another one. It
// returns a *RefusedError if no alarm may be disarmed.
func (d *Disarming) Judge(ctx context.Context) (operate.Plan, error) {
	survey, alarms, err := Raised(ctx, d.Members)
	if err != nil {
		return operate.Plan{}, err
	}
	if len(alarms) == 0 {
		return operate.Plan{Already: fmt.Sprintf("No alarm is raised in %s.", d.Cluster)}, nil
	}
	databases := Databases(survey)
	data, err := d.compare(ctx, survey, alarms)
	if err != nil {
		return operate.Plan{}, err
	}
	plan := operate.Plan{Title: "disarm the alarms of " + d.Cluster, Facts: Facts(databases)}
	d.survey, d.may, d.stay = survey, nil, nil
	for _, alarm := range alarms {
		v := maintenance.MayDisarm(d.Facts, databases, alarm.Type, data)
		if !v.Allowed {
			d.stay = append(d.stay, fmt.Sprintf("alarm %s of %s stays: %s", alarm.Type, alarm.Where(), v.Message))
			continue
		}
		d.may = append(d.may, alarm)
		plan.Subject += fmt.Sprintf("%s of %016x ", alarm.Type, alarm.MemberID)
		plan.Steps = append(plan.Steps, fmt.Sprintf("disarm %s of %s: %s", alarm.Type, alarm.Where(), v.Message))
		for _, n := range v.Notes {
			plan.Warnings = append(plan.Warnings, n.Message+".")
		}
	}
	if len(d.may) == 0 {
		return plan, operate.Refuse("%s", d.Stay())
	}
	for _, why := range d.stay {
		plan.Warnings = append(plan.Warnings, why+".")
	}
	return plan, nil
}

// compare compares the data of all voters if a CORRUPT alarm is raised.
func (d *Disarming) compare(ctx context.Context, survey etcd.Survey, alarms []etcd.Alarm) (maintenance.Comparison, error) {
	if !slices.ContainsFunc(alarms, func(a etcd.Alarm) bool { return a.Type == maintenance.Corrupt }) {
		return maintenance.Comparison{}, nil
	}
	d.Comparing()
	return Compare(ctx, d.Members, survey, d.Clock)
}

// Run disarms the alarms that may be disarmed. It calls held before each one, and done after it.
func (d *Disarming) Run(ctx context.Context, held func() error, done func(etcd.Alarm)) error {
	for _, a := range d.may {
		if err := held(); err != nil {
			return err
		}
		if err := Disarm(ctx, d.Members, d.survey, a); err != nil {
			return err
		}
		done(a)
	}
	return nil
}

// Stay returns why alarms stay, empty if none does.
func (d *Disarming) Stay() string { return strings.Join(d.stay, "; ") }
