// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// Bitnami clusters are those of its chart, and others that use its image.
const Bitnami Name = "bitnami"

var bitnami = Product{
	Name: Bitnami,
	// Early charts don't set MY_STS_NAME, which manifests of others set, too.
	Env: []string{"ETCD_ON_K8S"},
	Membership: Membership{
		Manager: ByStartScript, ManagerName: "the members' start script", RemovesUnlisted: true,
		CorrectsPeerURLs: true,
		ChartValue:       "replicaCount",
		ScaleHow:         ", and let the chart's hooks run, which remove members from etcd before they stop",
		ReplaceHow:       selfHealing,
	},
	RecoveryEnv:  "ETCD_DISASTER_RECOVERY",
	RecoveryOff:  "set disasterRecovery.enabled=false in the values of its chart, as with helm upgrade RELEASE CHART --reuse-values --set disasterRecovery.enabled=false",
	StateFile:    "member_id",
	HealthScript: "/opt/bitnami/scripts/etcd/healthcheck.sh",
	StopScript:   "/opt/bitnami/scripts/etcd/prestop.sh",
}
