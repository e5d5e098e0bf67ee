# Makes a program of each ```cpp block of a Markdown file: writes FOLDER/STEM_LINE.cpp and prints STEM_LINE.
#
# A block with `int main` is a program as it stands. Any other is what stands inside of main, but for its includes
# and its definitions of types and functions, which are those that begin in the first column; `using namespace heed`
# goes without saying. A block marked ```cpp continued goes on where the one before it ended. The compiler speaks of
# the lines of the Markdown file.
# Variables: folder, stem.

/```cpp/ {
  if ($0 == "```cpp") {
    finish()
    name = stem "_" FNR
  } else if ($0 != "```cpp continued" || !name || whole) {
    printf "%s:%d: wanted ```cpp, or ```cpp continued after a block without main, came %s\n",
      FILENAME, FNR, $0 >"/dev/stderr"
    exit failed = 1
  }
  inside = 1
  next
}
inside && $0 == "```" { inside = 0; next }
inside {
  if (/^int main\(/) whole = 1
  text[++count] = $0
  line[count] = FNR
}
END { if (!failed) finish() }

function finish(  i) {
  if (!name) return
  if (whole) {
    for (i = 1; i <= count; ++i) put("all", i)
    program = part["all"]
  } else {
    for (i = 1; i <= count; ++i) put(place(text[i]), i)
    program = part["include"] "\nusing namespace heed;\n" part["definition"] "\nint main() {\n" part["statement"] "\n}\n"
  }
  print program > (folder "/" name ".cpp")
  close(folder "/" name ".cpp")
  print name
  split("", part); split("", last)
  count = whole = 0
  definition = 0
  name = ""
}

# Adds line i to a part, and says where it is from unless it follows the part's last one.
function put(where, i) {
  if (line[i] != last[where] + 1) part[where] = part[where] "#line " line[i] " \"" FILENAME "\"\n"
  last[where] = line[i]
  part[where] = part[where] text[i] "\n"
}

# Where a line of a block without main belongs. A definition lasts until a brace closes in the first column.
function place(s) {
  if (definition) {
    if (s ~ /^}/) definition = 0
    return "definition"
  }
  if (s ~ /^#include/) return "include"
  if (s ~ /^using .*;$/) return "definition"
  if (s !~ /^(class|struct|enum|template|namespace) / && s !~ /^[A-Za-z_][A-Za-z0-9_:<>,&* ]* [&*]*[a-z_0-9]+\([^=]*[{]$/)
    return "statement"
  definition = s !~ /};?$/
  return "definition"
}
