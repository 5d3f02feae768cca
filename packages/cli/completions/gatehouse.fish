function __gatehouse_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  # An empty last word is an empty last line, which fish would trim.
  set -l lines (begin
      printf '%s' $words[1]
      for word in $words[2..-1]
        printf '\n%s' $word
      end
    end | string collect --allow-empty --no-trim-newlines)
  gatehouse __complete -- $lines 2>/dev/null
end
complete -c gatehouse -f -a '(__gatehouse_complete)'
