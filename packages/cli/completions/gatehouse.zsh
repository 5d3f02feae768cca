#compdef gatehouse
_gatehouse() {
  local -a found
  found=("${(@f)$(gatehouse __complete -- "${(F)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _gatehouse gatehouse
