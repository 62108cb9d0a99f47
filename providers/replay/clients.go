package replay

import "toolscope/providers/client"

// clients are the ways of clients, agents first. What a client does with arguments that are one
// object goes without saying, unless it changes them.
var clients = []Policy{
	{
		Client: client.Must("openclaw"), Known: client.Read, Name: "openclaw",
		Does: "the raw text goes to providers that take text; the object it holds to those that take objects, {} when it holds none",
		text: keep, object: unwrap, reasoningAsText: true, fillsIn: true,
	},
	{
		Client: client.Must("pydantic-ai"), Known: client.Read, Name: "pydantic-ai",
		Does: `what is no object is sent as {"INVALID_JSON": "…"}, to every provider`,
		text: wrap, object: wrap, key: "INVALID_JSON",
	},
}
