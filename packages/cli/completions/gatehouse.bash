_gatehouse() {
  local line
  line=$(printf '%s\n' "${COMP_WORDS[@]:1:COMP_CWORD}"; printf x)
  line=${line%$'\n'x}
  COMPREPLY=()
  local word
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(gatehouse __complete -- "$line" 2>/dev/null)
}
complete -o default -F _gatehouse gatehouse
