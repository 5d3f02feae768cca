# What the hidden steps of pages have to hand.

# The command of the pages goes ahead without asking: there is nobody at the terminal.
gatehouse() {
  command gatehouse --yes "$@"
}

# new_agent [NAME]: makes an agent and prints its token.
new_agent() {
  gatehouse agent create "${1:-agent-$RANDOM$RANDOM}" --json | jq -r .token
}

# has_agent NAME: makes it unless it is there.
has_agent() {
  gatehouse agent show "$1" --json >agent.json 2>&1 || gatehouse agent create "$1" --json >agent.json
}

# call TOKEN CAPABILITY [ARGUMENTS]: one call, and its answer.
call() {
  curl -sS "$GATEWAY/rpc" -H "authorization: Bearer $1" -H 'content-type: application/json' -d \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"capabilities.invoke\",\"params\":{\"capability\":\"$2\",\"arguments\":${3:-{\}}}}"
}

# ask TOKEN CAPABILITY ARGUMENTS: a call that waits for a person; prints the approval's id.
ask() {
  call "$@" | jq -er .error.data.approval_id
}

# ask_to_delete TOKEN FILE: writes a file and asks to delete it.
ask_to_delete() {
  call "$1" filesystem.write "{\"path\":\"$2\",\"content\":\"x\"}" >written.json
  ask "$1" filesystem.delete "{\"path\":\"$2\"}"
}

# newest: the newest request that waits.
newest() {
  gatehouse approvals list --json | jq -er '.approvals | sort_by(.created_at) | last | .id'
}
