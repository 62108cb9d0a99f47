package host

import (
	"net/url"
	"slices"
	"strings"
)

// clientOnly lists hosts of models that the other tables don't have, because toolscope doesn't send requests to them.
// Their own clients use them, such as Qwen Code, GitHub Copilot, Kimi Code and opencode.
var clientOnly = []string{
	"dashscope.aliyuncs.com", "api.githubcopilot.com", "api.individual.githubcopilot.com", "api.business.githubcopilot.com",
	"api.enterprise.githubcopilot.com", "ai-gateway.vercel.sh", "api.kimi.com", "opencode.ai", "api.factory.ai",
}

// awsRegions and googleRegions are used if the environment has no region.
var (
	awsRegions = []string{
		"us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2",
		"eu-west-3", "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
	}
	googleRegions = []string{"us-central1", "us-east1", "us-east4", "us-east5", "us-west1", "europe-west1", "europe-west4", "asia-northeast1", "asia-southeast1"}
)

// Names returns the sorted names of all hosts of models that use TLS. They include the hosts in the environment's
// addresses. A name with a region is returned for the regions in the environment, or for the regions in a list.
func Names(getenv func(string) string) []string {
	names := slices.Clone(clientOnly)
	add := func(h *Host, regions []string) {
		addresses := []string{getenv(h.Variable)}
		for _, region := range regions {
			addresses = append(addresses, strings.ReplaceAll(h.Address, regionMark, region))
		}
		for _, address := range addresses {
			if u, err := url.Parse(address); err == nil && u.Scheme == "https" {
				names = append(names, strings.ToLower(u.Hostname()))
			}
		}
	}
	for i := range All {
		add(&All[i], regionsIn(getenv, regionVariables, awsRegions))
	}
	for i := range PassThrough {
		h := &PassThrough[i]
		add(h, regionsIn(getenv, vertexRegions, googleRegions))
		global := *h
		global.Address = strings.ReplaceAll(h.Address, regionMark+"-", "")
		add(&global, []string{""})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// regionsIn returns the regions in the environment, or else the listed ones.
func regionsIn(getenv func(string) string, variables, listed []string) (regions []string) {
	for _, name := range variables {
		if region := getenv(name); region != "" && region != "global" && isRegion(region) {
			regions = append(regions, region)
		}
	}
	if len(regions) == 0 {
		return listed
	}
	return regions
}
