/** Each hands the words so far to `gatehouse __complete`, one a line, and offers what comes back. */
export const completionScripts = {
  bash: `_gatehouse() {
  local line
  line=$(printf '%s\\n' "\${COMP_WORDS[@]:1:COMP_CWORD}"; printf x)
  line=\${line%$'\\n'x}
  COMPREPLY=()
  local word
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(gatehouse __complete -- "$line" 2>/dev/null)
}
complete -o default -F _gatehouse gatehouse
`,
  zsh: `#compdef gatehouse
_gatehouse() {
  local -a found
  found=("\${(@f)$(gatehouse __complete -- "\${(F)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _gatehouse gatehouse
`,
  fish: `function __gatehouse_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  gatehouse __complete -- (string join \\n -- $words | string collect --allow-empty) 2>/dev/null
end
complete -c gatehouse -f -a '(__gatehouse_complete)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName gatehouse -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  gatehouse __complete -- ($words -join "\`n") 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
} as const
