"""Opens the pages of a folder in a browser and uses them as a reader would."""
import csv
import io
import json
import pathlib
import shutil
import sys
import time
import unittest

from browser import Browser

FOLDER = pathlib.Path(sys.argv.pop())
SECTIONS = ["model", "head", "flow", "statistics", "charts"]


def setUpModule():
    PageTest.browser = Browser(shutil.which("chromium"))


def tearDownModule():
    PageTest.browser.close()


class PageTest(unittest.TestCase):
    def open(self, name, **options):
        self.path = FOLDER / f"{name}.html"
        return self.browser.open(self.path, **options)

    def tearDown(self):
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.requests, [self.path.as_uri()])

    def run_script(self, script):
        return self.browser.run(script)

    def text(self, selector):
        return self.run_script(f"document.querySelector({json.dumps(selector)}).textContent")

    def count(self, selector):
        return self.run_script(f"document.querySelectorAll({json.dumps(selector)}).length")

    def pixels(self, selector):
        return self.run_script(f"document.querySelector({json.dumps(selector)}).toDataURL()")

    def choose(self, selector):
        self.run_script(f"document.querySelector({json.dumps(selector)}).click()")

    def show(self, quantity):
        self.choose(f"[name=quantity][value={quantity}]")

    def focus(self, selector):
        self.run_script(f"document.querySelector({json.dumps(selector)}).focus()")

    def saved(self, selector):
        """The rows of the file that a button saves, without the row of names."""
        self.run_script("URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }")
        self.choose(f"{selector} .save")
        text = self.run_script("window.saved.text()")
        return list(csv.reader(io.StringIO(text, newline="")))[1:]


class WhatThereIs(PageTest):
    def visible(self):
        return [name for name in SECTIONS if not self.run_script(f"document.getElementById('{name}').hidden")]

    def test_sections_without_data_do_not_appear(self):
        for name, sections, controls in [("translator", SECTIONS, True), ("weights_alone", ["model", "head"], True),
                                         ("charts_alone", ["charts"], False)]:
            with self.subTest(name):
                self.open(name)
                self.assertEqual(self.visible(), sections)
                self.assertEqual(not self.run_script("document.getElementById('controls').hidden"), controls)

    def test_without_gradients_there_is_nothing_to_switch(self):
        self.open("weights_alone")
        self.assertEqual(self.count("[name=quantity]"), 0)

    def test_texts_stay_texts(self):
        self.open("hostile")
        title = "<b>Bold</b> </script><script>document.title = 'broken'</script>"
        self.assertEqual(self.run_script("document.title"), title)
        self.assertEqual(self.text("h1"), title)
        self.assertEqual(self.count("script"), 2)
        self.assertEqual(self.count("img, b, i"), 0)
        words = self.run_script("[...document.querySelectorAll('.words.keys .word')].map((word) => word.textContent)")
        self.assertEqual(words[1:4], ["<!--", '"quotes" & \'more\'', "<img src=x onerror=alert(1)>"])
        self.assertEqual(words[4:6], ["שלום", "مرحبا بالعالم"])
        self.assertEqual(words[11:14], ["␣␣spaces␣", "line⏎break", "∅"])
        rows = self.saved("#head-table")
        self.assertEqual([row[3] for row in rows[:17]][11:14], ["  spaces ", "line\nbreak", ""])

    def test_nothing_is_wider_than_the_window(self):
        for name, width in [("translator", 400), ("translator", 1280), ("hostile", 400), ("largest", 400)]:
            with self.subTest(name, width=width):
                self.open(name, width=width)
                self.assertEqual(self.run_script("document.documentElement.scrollWidth"), width)

    def test_whatever_takes_the_focus_has_a_name(self):
        self.open("translator")
        nameless = self.run_script(
            "[...document.querySelectorAll('button, input, select, summary, [tabindex]')].filter((e) =>"
            "!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim()))"
            ".map((e) => e.outerHTML)")
        self.assertEqual(nameless, [])


class Switches(PageTest):
    def setUp(self):
        self.open("translator")

    def drawn(self):
        return [self.pixels("#matrix canvas"), self.pixels("#lines canvas"), self.pixels(".thumb canvas"),
                self.text("#matrix-legend"), self.text("#head-name")]

    def test_each_quantity_is_drawn_in_its_own_way(self):
        pictures = []
        for quantity in ["weights", "gradients", "product"]:
            self.show(quantity)
            pictures.append(self.drawn()[:4])
        for first, second in [(0, 1), (0, 2), (1, 2)]:
            for one, other in zip(pictures[first], pictures[second]):
                self.assertNotEqual(one, other)

    def test_signed_colours_reach_as_far_both_ways(self):
        self.show("weights")
        self.assertEqual(self.text("#matrix-legend span"), "0")
        for quantity in ["gradients", "product"]:
            self.show(quantity)
            ends = self.run_script("[...document.querySelectorAll('#matrix-legend > span')].map((e) => e.textContent)")
            self.assertEqual(ends[0], "−" + ends[2])

    def test_cells_tell_weight_gradient_and_their_product(self):
        rows = self.saved("#head-table")
        self.assertEqual(len(rows), 12 * 12)
        for row in rows:
            weight, gradient, product = map(float, row[4:])
            self.assertAlmostEqual(product, weight * gradient, places=8)

    def test_layers_and_heads_are_chosen(self):
        before = self.drawn()
        self.run_script("const layer = document.getElementById('layer'); layer.value = 2;"
                        "layer.dispatchEvent(new Event('change'))")
        self.assertEqual(self.text("#head-name"), "decoder.layers.0.cross_attention · head 0")
        self.run_script("const head = document.getElementById('head-choice'); head.value = 3;"
                        "head.dispatchEvent(new Event('change'))")
        self.assertEqual(self.text("#head-name"), "decoder.layers.0.cross_attention · head 3")
        self.assertNotEqual(self.drawn()[:2], before[:2])
        self.assertEqual(self.run_script("document.querySelector('[aria-selected=true]').dataset.head"), "3")

    def test_heads_are_averaged(self):
        heads = [[float(row[4]) for row in self.head_rows(head)] for head in range(4)]
        self.choose("#mean")
        self.assertEqual(self.count(".thumb"), 6)
        self.assertIn("mean of heads", self.text("#head-name"))
        means = [float(row[4]) for row in self.saved("#head-table")]
        for mean, values in zip(means, zip(*heads)):
            self.assertAlmostEqual(mean, sum(values) / 4, places=6)

    def head_rows(self, head):
        self.choose(f".thumb[data-layer='0'][data-head='{head}']")
        return self.saved("#head-table")

    def test_padding_and_markers_are_hidden(self):
        self.assertEqual(self.count(".words.queries .word"), 12)
        self.choose("#hide-special")
        self.assertEqual(self.count(".words.queries .word"), 8)
        self.assertEqual(self.count(".words .special, .labels .special, .bars .special"), 0)
        self.assertEqual(self.run_script("document.querySelector('#matrix canvas').width"), 8)

    def test_layers_are_left_out(self):
        self.choose("#show-layer-1")
        self.assertEqual(self.count(".layer"), 5)
        self.assertEqual(self.count("#flow-layers button"), 7)
        self.assertEqual(self.count("#statistics-pictures tbody tr"), 10)
        self.choose(".chooser button:nth-of-type(2)")
        self.assertEqual(self.count(".layer, #flow-layers button, #statistics-pictures tr"), 0)
        self.choose(".chooser button")
        self.assertEqual(self.count(".layer"), 6)

    def test_colours_may_reach_the_largest_of_all(self):
        own = self.drawn()
        self.choose("[name=scale][value=common]")
        common = self.drawn()
        self.assertNotEqual(own[0], common[0])
        legends = {self.text("#matrix-legend"), self.text("#model-legend")}
        self.assertEqual(len(legends), 1)

    def test_light_and_dark(self):
        background = "getComputedStyle(document.body).backgroundColor"
        light, cells = self.run_script(background), self.pixels("#matrix canvas")
        self.choose("[name=theme][value=dark]")
        dark, dark_cells = self.run_script(background), self.pixels("#matrix canvas")
        self.assertNotEqual(light, dark)
        self.assertNotEqual(cells, dark_cells)
        self.open("translator", dark=True)
        self.assertEqual(self.run_script(background), dark)
        self.assertEqual(self.pixels("#matrix canvas"), dark_cells)
        self.choose("[name=theme][value=light]")
        self.assertEqual(self.run_script(background), light)
        self.assertEqual(self.pixels("#matrix canvas"), cells)

    def test_numbers_are_shown_below_a_picture(self):
        self.assertEqual(self.count("#head-table table"), 0)
        self.choose("#head-table button")
        self.assertEqual(self.count("#head-table tbody tr"), 144)
        first = self.text("#head-table tbody td:nth-child(5)")
        self.choose(".thumb[data-layer='0'][data-head='1']")
        self.assertNotEqual(self.text("#head-table tbody td:nth-child(5)"), first)
        self.choose("#head-table button")
        self.assertTrue(self.run_script("document.querySelector('#head-table .table-box').hidden"))


class PointerAndKeys(PageTest):
    def setUp(self):
        self.open("translator")

    def test_arrows_move_through_layers_and_heads(self):
        self.focus(".thumb")
        for key, name in [("ArrowRight", "encoder.layers.0.attention · head 1"),
                          ("ArrowDown", "decoder.layers.0.self_attention · head 1"),
                          ("ArrowLeft", "decoder.layers.0.self_attention · head 0"),
                          ("ArrowLeft", "decoder.layers.0.self_attention · head 0"),
                          ("ArrowUp", "encoder.layers.0.attention · head 0"),
                          ("ArrowUp", "encoder.layers.0.attention · head 0")]:
            self.browser.key(key)
            self.assertEqual(self.text("#head-name"), name)

    def test_tab_leads_to_every_picture(self):
        reached = set()
        for _ in range(80):
            self.browser.key("Tab")
            reached.add(self.run_script("document.activeElement.closest('section')?.id + ' ' +"
                                        "document.activeElement.className.split(' ')[0]"))
        for place in ["model thumb", "head word", "head cells", "flow bar-row", "charts chart", "charts entry"]:
            self.assertIn(place, reached)

    def test_the_focus_is_seen(self):
        self.browser.key("Tab")
        for selector in [".cells", ".word", ".chart"]:
            self.focus(selector)
            self.assertEqual(self.run_script("getComputedStyle(document.activeElement).outlineStyle"), "solid")

    def test_arrows_move_through_the_matrix(self):
        self.focus(".cells")
        self.browser.key("ArrowRight")
        self.browser.key("ArrowDown")
        readout = self.text("#matrix-readout")
        row = self.saved("#head-table")[12 + 1]
        self.assertEqual((row[1], row[3]), ("old", "old"))
        self.assertIn("\u2068old\u2069 → \u2068old\u2069", readout)
        shown = readout.split(" · ")[1].removeprefix("weight ")
        self.assertAlmostEqual(float(shown), float(row[4]), places=2)

    def test_pointing_at_a_cell_tells_its_numbers(self):
        self.browser.point("#matrix canvas")
        tip = self.run_script("[...document.getElementById('tip').children].map((line) => line.textContent)")
        self.assertEqual([line.rsplit(" ", 1)[0] for line in tip[1:]], ["weight", "gradient", "weight × gradient"])
        self.assertEqual(self.count(".labels .here"), 2)

    def test_a_word_shows_its_lines_alone(self):
        everything = self.pixels("#lines canvas")
        self.browser.point(".words.queries .word:nth-child(3)")
        alone = self.pixels("#lines canvas")
        self.assertNotEqual(alone, everything)
        self.assertIn("\u2068woman\u2069 →", self.text("#lines-readout"))
        self.browser.point("h1")
        self.assertEqual(self.pixels("#lines canvas"), everything)
        self.focus(".words.queries .word")
        self.browser.key("ArrowDown")
        self.browser.key("ArrowDown")
        self.assertEqual(self.pixels("#lines canvas"), alone)


class Flow(PageTest):
    def setUp(self):
        self.open("translator")

    def shares(self):
        sums = {}
        for kind, place, _, _, _, share, _, _ in self.saved("#flow-table"):
            sums.setdefault((kind, place), []).append(float(share))
        return sums

    def test_the_shares_of_a_word_add_up_to_one(self):
        sums = self.shares()
        self.assertEqual(len(sums), 12)
        for parts in sums.values():
            self.assertEqual(len(parts), 1 + 3 * 4)
            self.assertAlmostEqual(sum(parts), 1, places=3)

    def test_negative_shares_lie_to_the_left_of_the_axis(self):
        bars = self.run_script("[...document.querySelectorAll('#flow-pictures .bar-row rect')].map((rect) =>"
                               "[rect.classList.contains('against'), Number(rect.getAttribute('x'))])")
        self.assertIn(True, [against for against, _ in bars])
        for against, x in bars:
            self.assertEqual(against, x < 0)

    def test_bands_are_split_by_head(self):
        whole = self.count("#flow-pictures .bar-row rect")
        self.choose("#split-heads")
        self.assertEqual(self.count("#flow-pictures .bar-row rect"), 12 * 13)
        self.assertGreater(12 * 13, whole)

    def test_lengths_have_no_negative_side(self):
        self.choose("[name=measure][value=norm]")
        self.assertEqual(self.count("#flow-pictures .against"), 0)
        self.assertEqual(self.count("#flow-pictures .whole"), 12)

    def test_cross_attention_has_two_inputs(self):
        self.choose("#flow-layers button:nth-of-type(4)")
        self.assertEqual(self.count(".flow-picture"), 2)
        self.assertIn("cross_attention", self.text("#flow-name"))
        self.assertIn("cross_attention", self.text("#head-name"))

    def test_ribbons_follow_the_word_pointed_at(self):
        before = self.run_script("document.querySelector('.ribbons').innerHTML")
        self.browser.point("#flow-pictures .bar-row:nth-child(4)")
        self.assertNotEqual(self.run_script("document.querySelector('.ribbons').innerHTML"), before)
        self.assertIn("woman", self.text(".ribbons"))


class Charts(PageTest):
    def setUp(self):
        self.open("translator")

    def test_lines_are_hidden_by_their_names(self):
        self.assertEqual(self.count(".chart-figure:nth-child(2) .curve"), 6)
        self.choose(".chart-figure:nth-child(2) .entry")
        self.assertEqual(self.count(".chart-figure:nth-child(2) .curve"), 5)
        self.choose(".chart-figure:nth-child(2) .entry")
        self.assertEqual(self.count(".chart-figure:nth-child(2) .curve"), 6)

    def test_a_logarithmic_axis_has_powers_of_ten(self):
        ticks = self.run_script("[...document.querySelectorAll('.chart-figure:nth-child(2) .tick .end')]"
                                ".map((text) => Number(text.textContent))")
        self.assertEqual(ticks, [0.01, 0.1, 1])

    def test_arrows_read_the_numbers(self):
        self.focus(".chart")
        self.browser.key("ArrowRight")
        self.browser.key("ArrowRight")
        self.assertEqual(self.text(".chart-figure .readout"),
                         "epoch 2 · \u2068held out\u2069 2.16 · \u2068training\u2069 1.8")

    def test_the_pointer_reads_the_numbers(self):
        self.browser.point(".chart", dx=-10000)
        self.browser.point(".chart")
        self.assertIn("epoch", self.text("#tip"))

    def test_lines_are_saved(self):
        rows = self.saved(".chart-figure:nth-child(2)")
        self.assertEqual(len(rows), 6 * 300)
        self.assertEqual(rows[0][:2], ["encoder.layers.0.attention", "1"])


class Largest(PageTest):
    def test_opens_and_switches(self):
        opening = self.open("largest")
        self.assertIn("strongest places of each row", self.text("#precision"))
        self.assertEqual(self.count(".thumb"), 144)
        times = [f"opened in {opening:.0f} ms"]
        for quantity in ["gradients", "product", "weights"]:
            start = time.monotonic()
            self.show(quantity)
            times.append(f"{quantity} in {1000 * (time.monotonic() - start):.0f}")
        start = time.monotonic()
        self.choose(".thumb[data-layer='7'][data-head='5']")
        times.append(f"a head in {1000 * (time.monotonic() - start):.0f}")
        print(", ".join(times))
        self.assertEqual(self.text("#head-name"), "encoder.layers.7.attention · head 5")
        self.assertEqual(self.count(".words.keys .word"), 200)


if __name__ == "__main__":
    unittest.main(verbosity=0)
